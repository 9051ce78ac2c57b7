"""Tests: torchvision's MNIST and FashionMNIST from a folder, and transforms."""

from __future__ import annotations

import gzip
import math
import struct
from pathlib import Path

import numpy
import pytest
from test_cli import gradcli as command

TRAIN, TEST = 130, 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files as torchvision lays them: one half packed, the other not."""
    home = tmp_path_factory.mktemp("data")
    raw = home / "FashionMNIST" / "raw"
    raw.mkdir(parents=True)
    for part, count in (("train", TRAIN), ("t10k", TEST)):
        images, labels = pictures(count)
        head = struct.pack(">BBBBIII", 0, 0, 8, 3, count, 28, 28)
        with gzip.open(raw / f"{part}-images-idx3-ubyte.gz", "wb") as file:
            file.write(head + images.tobytes())
        short = struct.pack(">BBBBI", 0, 0, 8, 1, count) + labels.tobytes()
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(short)
    return home


def pictures(count: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    draw = numpy.random.default_rng(count)
    images = draw.integers(0, 256, (count, 28, 28), dtype=numpy.uint8)
    return images, draw.integers(0, 10, count, dtype=numpy.uint8)


PROGRAM = """
import torch, torchvision
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
from torchvision.transforms import ToTensor, Lambda
train = datasets.FashionMNIST(root="data", train=True, download=True, transform=ToTensor())
shown = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.25,))])
hot = Lambda(lambda y: torch.zeros(10).scatter_(0, torch.tensor(y), value=1))
test = torchvision.datasets.FashionMNIST("data", train=False, transform=shown, target_transform=hot)
print(len(train), len(test), train.data.shape, train.data.dtype, train.targets.dtype)
image, label = train[3]
print(image.shape, image.dtype, type(label).__name__, train.classes[label], train.train)
print(torch.equal(image[0], train.data[3].float() / 255), train.targets[3].item() == label)
print(torch.equal(test[0][0], (test.data[0].float()[None] / 255 - 0.5) / 0.25), test[0][1].sum())
for X, y in DataLoader(train, batch_size=64):
    print(X.shape, y.shape, y.dtype)
print(train)
print(shown, datasets.FashionMNIST("data")[0][0].size)
"""


def test_data_sets(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    done = command("run", str(file), "--data", str(folder))
    assert done.returncode == 0, done.stderr
    _, labels = pictures(TRAIN)
    classes = "T-shirt/top Trouser Pullover Dress Coat Sandal Shirt Sneaker Bag Ankle_boot".split()
    assert done.stdout.splitlines() == [
        f"{TRAIN} {TEST} torch.Size([{TRAIN}, 28, 28]) torch.uint8 torch.int64",
        f"torch.Size([1, 28, 28]) torch.float32 int {classes[labels[3]].replace('_', ' ')} True",
        "True True",
        "True tensor(1.)",
        *["torch.Size([64, 1, 28, 28]) torch.Size([64]) torch.int64"] * 2,
        "torch.Size([2, 1, 28, 28]) torch.Size([2]) torch.int64",
        "Dataset FashionMNIST",
        f"    Number of datapoints: {TRAIN}",
        "    Root location: data",
        "    Split: Train",
        "    StandardTransform",
        "Transform: ToTensor()",
        "Compose(",
        "    ToTensor()",
        "    Normalize(mean=(0.5,), std=(0.25,))",
        ") (28, 28)",
    ]


def test_names_of_before_still_answer(folder: Path) -> None:
    text = "from torchvision.datasets import FashionMNIST\nd = FashionMNIST('data')\n"
    text += "print(d.train_data is d.data, d.train_labels is d.targets)\n"
    done = command("run", "--data", str(folder), stdin=text)
    assert done.stdout == "True True\n"
    assert "3: UserWarning: train_data has been renamed data" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [((), "--data names its folder"), (("--data", "."), "has no file train-images-idx3-ubyte")],
)
def test_data_that_is_not_there(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    file = tmp_path / "program.py"
    file.write_text("from torchvision.datasets import MNIST\nMNIST('data', download=True)\n")
    done = command("run", str(file), *options)
    assert done.returncode == 3 and words in done.stderr


def test_damaged_files_are_reported(tmp_path: Path) -> None:
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + b"\xff" * 12)
    file = tmp_path / "program.py"
    file.write_text("from torchvision.datasets import MNIST\nMNIST('data')\n")
    done = command("run", str(file), "--data", str(tmp_path))
    assert done.returncode == 3 and "RuntimeError" in done.stderr


@pytest.mark.parametrize(
    ("pictures", "labels"),
    [
        (b"\0\0\x08\x03" + struct.pack(">3I", 1, 1, 1) + b"a",
         b"\0\0\x0e\x01" + struct.pack(">Id", 1, math.nan)),
        (b"\0\0\x0d\x03" + struct.pack(">3If", 1, 1, 1, 0.5),
         b"\0\0\x08\x01" + struct.pack(">I", 1) + b"a"),
    ],
)  # fmt: skip
def test_pictures_and_labels_are_bytes(tmp_path: Path, pictures: bytes, labels: bytes) -> None:
    """A label that is NaN would be another number on each processor."""
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(pictures)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(labels)
    file = tmp_path / "program.py"
    file.write_text("from torchvision.datasets import MNIST\nMNIST('data', train=False)\n")
    done = command("run", str(file), "--data", str(tmp_path))
    assert done.returncode == 3 and "not a set of pictures with labels" in done.stderr


def test_a_transform_refuses_what_it_can_not_read() -> None:
    text = "from torchvision.transforms import Normalize, ToTensor\n"
    done = command("run", stdin=text + "ToTensor()(3)\n")
    assert "pic should be PIL Image or ndarray. Got int" in done.stderr
    zero = command("run", stdin=text + "Normalize((0.5,), (0.,))(torch.ones(1, 2, 2))\n")
    assert "std evaluated to zero" in zero.stderr
