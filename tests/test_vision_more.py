"""Tests: torchvision's CIFAR sets from both versions of their files, transforms and grids."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path

import numpy
import pytest
from test_cli import gradcli as command
from test_language import printed

from gradcli.language.session import session
from gradcli.language.standard.torchvision import pictures

EACH = 3  # pictures in a file


def pictures_of(number: int) -> tuple[numpy.ndarray, list[int], list[int]]:
    """Bytes (EACH, 3072), labels below 10 and labels below 100."""
    draw = numpy.random.default_rng(number)
    data = draw.integers(0, 256, (EACH, 3072), dtype=numpy.uint8)
    return data, draw.integers(0, 10, EACH).tolist(), draw.integers(0, 100, EACH).tolist()


def of_python_2(entries: dict[str, list[int]], data: numpy.ndarray) -> bytes:
    """A pickle as Python 2 wrote the files that are handed out."""

    def word(text: bytes) -> bytes:
        return b"U" + bytes([len(text)]) + text

    made = b"\x80\x02}q\x01(" + word(b"batch_label") + b"q\x02" + word(b"batch 1 of 5")
    for key, labels in entries.items():
        made += word(key.encode()) + b"]q\x04("
        made += b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    made += word(b"data") + b"cnumpy.core.multiarray\n_reconstruct\nq\x06cnumpy\nndarray\nq\x07"
    made += b"K\x00\x85" + word(b"b") + b"\x87R(K\x01M" + struct.pack("<H", len(data))
    made += b"M" + struct.pack("<H", 3072) + b"\x86cnumpy\ndtype\nq\x08" + word(b"u1")
    made += b"K\x00K\x01\x87R(K\x03" + word(b"|") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    made += b"\x89T" + struct.pack("<i", data.size) + data.tobytes() + b"tb"
    return made + word(b"filenames") + b"](" + word(b"a.png") + b"eu."


def written(home: Path, version: str) -> None:
    """The ten files of CIFAR10 and CIFAR100 in one of three versions."""
    files = {f"data_batch_{number}": number for number in range(1, 6)} | {"test_batch": 6}
    for name, number in [*files.items(), ("train", 7), ("test", 8)]:
        data, few, many = pictures_of(number)
        entries = {"labels": few} if number < 7 else {"coarse_labels": few, "fine_labels": many}
        if version == "binary":
            table = numpy.column_stack([*map(numpy.uint8, entries.values()), data])
            place, made = home / ("cifar-10-batches-bin" if number < 7 else "cifar-100-binary"), b""
            name, made = f"{name}.bin", table.astype(numpy.uint8).tobytes()
        else:
            place = home / ("cifar-10-batches-py" if number < 7 else "cifar-100-python")
            made = of_python_2(entries, data)
            if version == "python 3":
                made = pickle.dumps({**entries, "data": data}, protocol=2 if number < 7 else 4)
        place.mkdir(exist_ok=True)
        (place / name).write_bytes(made)


PROGRAM = """
import numpy as np
from torchvision import datasets, transforms
for kind in (datasets.CIFAR10, datasets.CIFAR100):
    for train in (True, False):
        data = kind("data", train=train, download=True, transform=transforms.ToTensor())
        print(len(data), data.data.shape, data.data.dtype, len(data.classes), data.targets[:3])
        image, label = data[1]
        print(image.shape, image.dtype, label, (image * 255).round().int()[:, 2, 3].tolist())
data = datasets.CIFAR10("data", train=False)
print(data[0][0].size, data[0][0].mode, np.array(data[0][0]).shape, data.class_to_idx["ship"])
data.data, data.targets = data.data[:2], data.targets[:2]
print(data)
"""


@pytest.mark.parametrize("version", ["binary", "python 2", "python 3"])
def test_cifar(version: str, tmp_path: Path) -> None:
    written(tmp_path, version)
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    done = command("run", str(file), "--data", str(tmp_path))
    assert done.returncode == 0, done.stderr
    expected = []
    for first, count, which, names in (
        (1, 5, 1, 10),
        (6, 1, 1, 10),
        (7, 1, 2, 100),
        (8, 1, 2, 100),
    ):
        found = pictures_of(first)
        size = count * EACH
        expected += [
            f"{size} ({size}, 32, 32, 3) uint8 {names} {found[which][:3]}",
            f"torch.Size([3, 32, 32]) torch.float32 {found[which][1]} "
            f"{found[0][1].reshape(3, 32, 32)[:, 2, 3].tolist()}",
        ]
    assert done.stdout.splitlines() == [
        *expected, "(32, 32) RGB (32, 32, 3) 8",
        "Dataset CIFAR10", "    Number of datapoints: 2", "    Root location: data",
        "    Split: Test",
    ]  # fmt: skip


class Hostile:
    def __reduce__(self) -> tuple[object, ...]:
        return print, ("ran",)


ONE_BLACK = numpy.zeros((1, 3072), numpy.uint8)


def nested(depth: int) -> bytes:
    """Lists in a list that share their items: a text of it would never end."""
    return b"\x80\x02]" + b"".join(b"q%c](h%ch%ce" % (n, n, n) for n in range(depth)) + b"."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (pickle.dumps(Hostile()), "can run code when it is read"),
        (pickle.dumps({"labels": [1], "data": [1]}), "not a set of pictures with labels"),
        (pickle.dumps({"labels": [1], "data": numpy.zeros((1, 5), "u1")}), "its array is not one"),
        (pickle.dumps([1, 2]), "not a file of CIFAR"),
        (nested(40), "not a file of CIFAR"),
        (b"\x80\x02(" * 5 + b"u.", "not a file of CIFAR"),
        (b"\x80\x02}", "not a file of CIFAR"),
        (b"", "not a file of CIFAR"),
        (
            of_python_2({"labels": [1]}, ONE_BLACK).replace(b"(K\x01M\x01\x00", b"(K\x01N"),
            "not a file of CIFAR",
        ),
    ],
    ids=range(9),
)
def test_foreign_pickles_are_refused(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "test_batch").write_bytes(content)
    file = tmp_path / "program.py"
    file.write_text("from torchvision.datasets import CIFAR10\nCIFAR10('data', train=False)\n")
    done = command("run", str(file), "--data", str(tmp_path))
    assert done.returncode == 3 and words in done.stderr and "ran" not in done.stdout


# Transforms of tensors beside what torchvision's documentation says that they compute.
TENSORS = """
import torch
import torch.nn.functional as F
from torchvision import transforms as T, utils
from torchvision.transforms import InterpolationMode, functional as TF
torch.manual_seed(3)
x = torch.rand(3, 8, 12)
bytes_ = torch.randint(0, 256, (3, 8, 8), dtype=torch.uint8)
def small(y, size, mode="bilinear"):
    return F.interpolate(y[None], size, mode=mode, align_corners=False, antialias=True)[0]
def again(transform, *more):
    torch.manual_seed(7)
    return transform(*more)
top, left = again(lambda: [torch.randint(0, n, (1,)).item() for n in (8, 12)])
lead = again(lambda: torch.rand(1).item())
turn = again(lambda: torch.empty(1).uniform_(-20, 20).item())
checks = [
    (T.Resize(4)(x), small(x, (4, 6))), (T.Resize((5, 20))(x), small(x, (5, 20))),
    (T.Resize([5, 5], InterpolationMode.BICUBIC)(x), small(x, (5, 5), "bicubic")),
    (T.Resize(5)(bytes_), small(bytes_.float(), (5, 5)).round().byte()),
    (T.Resize(20, max_size=21)(x), small(x, (14, 21))),
    (T.CenterCrop(4)(x), x[:, 2:6, 4:8]),
    (T.CenterCrop((10, 4))(x), F.pad(x[:, :, 4:8], (0, 0, 1, 1))),
    (T.Pad((1, 2), 0.5)(x), F.pad(x, (1, 1, 2, 2), value=0.5)),
    (T.Pad((1, 2, 3, 4), padding_mode="reflect")(x), F.pad(x, (1, 3, 2, 4), mode="reflect")),
    (T.Pad(2, padding_mode="edge")(bytes_)[:, 0, 0], bytes_[:, 0, 0]),
    (T.Pad(2, padding_mode="symmetric")(x)[:, :2, :2], x[:, :2, :2].flip(1, 2)),
    (again(T.RandomCrop(5, padding=2), x), F.pad(x, (2,) * 4)[:, top:top + 5, left:left + 5]),
    (again(T.RandomHorizontalFlip(0.9), x), x.flip(-1) if lead < 0.9 else x),
    (again(T.RandomVerticalFlip(0.1), x), x.flip(-2) if lead < 0.1 else x),
    (again(T.RandomRotation(20), x), TF.rotate(x, turn)),
    (TF.rotate(bytes_, 90), torch.rot90(bytes_, 1, (1, 2))), (TF.rotate(x, 180), x.flip(1, 2)),
    (T.Grayscale()(x)[0], 0.2989 * x[0] + 0.587 * x[1] + 0.114 * x[2]),
    (utils.make_grid(x[:1, None, :2, :2]), x[:1, :2, :2].repeat(3, 1, 1)),
    (utils.make_grid([x] * 3, nrow=2, padding=1)[:, 10:18, 1:13], x),
]
print([i for i, (a, b) in enumerate(checks) if a.shape != b.shape or not torch.equal(a, b)])
print(utils.make_grid(torch.arange(40.).view(10, 1, 2, 2), nrow=4, normalize=True).shape)
utils.save_image(x, "x.png")
for transform in (T.Resize(4), T.CenterCrop(3), T.Pad(1), T.RandomCrop(4, padding=1),
                  T.Grayscale(3), T.RandomHorizontalFlip(), T.RandomRotation(10),
                  T.RandomResizedCrop(4)):
    print(transform)
try:
    T.RandomCrop(20)(x)
except ValueError as error:
    print(error)
"""


def test_transforms_of_tensors() -> None:
    done = command("run", stdin=TENSORS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[]",
        "torch.Size([3, 14, 18])",
        "Resize(size=4, interpolation=bilinear, max_size=None, antialias=True)",
        "CenterCrop(size=(3, 3))",
        "Pad(padding=1, fill=0, padding_mode=constant)",
        "RandomCrop(size=(4, 4), padding=1)",
        "Grayscale(num_output_channels=3)",
        "RandomHorizontalFlip(p=0.5)",
        "RandomRotation(degrees=[-10.0, 10.0], interpolation=nearest, expand=False, fill=0)",
        "RandomResizedCrop(size=(4, 4), scale=(0.08, 1.0), ratio=(0.75, 1.3333), "
        "interpolation=bilinear, antialias=True)",
        "Required crop size (20, 20) is larger than input image size (8, 12)",
    ]


SQUARE = (numpy.arange(36, dtype=numpy.uint8) * 7).reshape(6, 6)
COLOURS = (numpy.arange(36) * 7 % 256).astype(numpy.uint8).reshape(3, 4, 3)


# Weighted sums of what Pillow 12.3 makes of the same pixels.
PILLOW = {
    "sizes": ([109851, 108010, 108806], [947772, 939708, 956137]),
    "turned": ([89096, 256977, 88950, 256298, 81585, 54390],
               [80507, 228228, 77615, 223581, 61173, 54726]),
    "grey": ([108780], [12480]),
}  # fmt: skip
MOVED = {
    "sizes": lambda given: [pictures.resized(given, 9, 4, method) for method in METHODS],
    "turned": lambda given: [
        *(pictures.rotated(given, 33.0, method, wide, None, 0)
          for method in METHODS[:2] for wide in (False, True)),
        *(pictures.rotated(given, angle, METHODS[0], False, None, 0) for angle in (90.0, 180.0)),
    ],
    "grey": lambda given: [pictures.grey(given)],
}  # fmt: skip
METHODS = (pictures.NEAREST, pictures.BILINEAR, pictures.BICUBIC)


@pytest.mark.parametrize("what", MOVED)
def test_pixels_are_moved_as_pillow_moves_them(what: str) -> None:
    session.budget.start()
    for given, expected in zip((SQUARE, COLOURS), PILLOW[what], strict=True):
        found = [pixels.astype(int).ravel() for pixels in MOVED[what](given)]
        sums = [int((pixels * (1 + numpy.arange(pixels.size))).sum()) for pixels in found]
        assert sums == expected


NETWORKS = """
from torchvision import models
for name in ("resnet18", "mobilenet_v2", "alexnet"):
    torch.manual_seed(0)
    net = getattr(models, name)(num_classes=3)
    net.eval()
    out = net(torch.linspace(-1, 1, 3 * 64 * 64).reshape(1, 3, 64, 64))
    out.sum().backward()
    grad, numbers = next(net.parameters()).grad, [f"{v:.4f}" for v in out[0]]
    print(name, sum(p.numel() for p in net.parameters()), numbers, f"{grad.norm():.3f}")
backbone = models.resnet18(weights=None)
for p in backbone.parameters():
    p.requires_grad = False
backbone.fc = nn.Linear(backbone.fc.in_features, 2)
kept = []
backbone.layer4[-1].register_forward_hook(lambda module, given, out: kept.append(out.shape))
backbone(torch.ones(2, 3, 32, 32)).sum().backward()
trained = [name for name, p in backbone.named_parameters() if p.grad is not None]
print(kept, trained, backbone.layer1[0].stride)
features = nn.Sequential(*list(backbone.children())[:-1])
print(features(torch.ones(2, 3, 32, 32)).shape, type(backbone))
from torchvision.models.resnet import BasicBlock, ResNet
class Small(ResNet):
    def __init__(self): super().__init__(BasicBlock, [1, 1, 1, 1], num_classes=2)
    def forward(self, x): return super().forward(x) * 2
print(sum(p.numel() for p in Small().parameters()), BasicBlock.expansion)
trained = models.VGG16_Weights.DEFAULT
for make, options in (models.resnet18, {"pretrained": True}), (models.vgg16, {"weights": trained}):
    try:
        make(**options)
    except RuntimeError as error:
        print(error)
"""
# What torchvision 0.28 gives on PyTorch 2.13, but for the last two lines.
OF_NETWORKS = """\
resnet18 11178051 ['-0.1248', '-0.0631', '0.0528'] 5.199
mobilenet_v2 2227715 ['0.0000', '0.0000', '-0.0000'] 0.000
alexnet 57016131 ['0.0154', '0.0120', '-0.0014'] 0.025
[torch.Size([2, 512, 1, 1])] ['fc.weight', 'fc.bias'] 1
torch.Size([2, 512, 1, 1]) <class 'torchvision.models.resnet.ResNet'>
4906818 1
torchvision.models.resnet18 would download trained weights, and a program here has no network; \
weights=None gives the network with random ones
torchvision.models.vgg16 would download trained weights, and a program here has no network; \
weights=None gives the network with random ones
"""


def test_networks_of_torchvision() -> None:
    assert printed(NETWORKS) == OF_NETWORKS


JITTER = """
import numpy as np
from torchvision import transforms as T
import torchvision.transforms.functional as TF
torch.manual_seed(0)
x, u = torch.rand(3, 5, 6), (torch.rand(3, 4, 4) * 255).to(torch.uint8)
picture = T.ToPILImage()(u)
def facts(t):
    if not isinstance(t, torch.Tensor):
        levels = np.array(t).astype(np.int64)
        return int(levels.sum()), int((levels ** 2).sum())
    return f"{t.double().sum().item():.4f} {t.double().pow(2).sum().item():.4f}"
for name, factors in (
    ("brightness", (0.5, 1.7)), ("contrast", (0.5, 1.7)), ("saturation", (0.0, 1.7)),
    ("hue", (-0.3, 0.25)),
):
    for factor in factors:
        change = getattr(TF, "adjust_" + name)
        print(name, factor, *[facts(change(given, factor)) for given in (x, u, picture)])
jitter = T.ColorJitter(0.4, 0.4, 0.4, 0.1)
often = T.RandomApply([T.ColorJitter(0.5), T.RandomGrayscale(p=0.5)], p=0.6)
print(jitter, often, T.RandomErasing(value="random"), T.ColorJitter(brightness=(0.5, 1.5)))
for _ in range(3):
    told = facts(jitter(x)), facts(jitter(picture)), facts(often(x))
    print(*told, facts(T.RandomGrayscale(0.5)(u)))
big = torch.ones(3, 16, 16)
for value in (0, "random", (0.1, 0.2, 0.3)):
    print(facts(T.RandomErasing(p=0.9, value=value)(big)))
for wrong in (
    lambda: T.ColorJitter(-1), lambda: T.ColorJitter(hue=0.7), lambda: TF.adjust_hue(x, 0.6),
    lambda: TF.adjust_contrast(x, -1), lambda: T.RandomErasing(value="x"),
):
    try:
        wrong()
    except ValueError as error:
        print(error)
"""
# What torchvision 0.28 and Pillow give.
OF_JITTER = """\
brightness 0.5 22.0019 7.2964 2750.0000 214506.0000 (2750, 214506)
brightness 1.7 62.1871 53.2047 8166.0000 1744546.0000 (8166, 1744546)
contrast 0.5 43.2177 22.6708 5630.0000 717306.0000 (5658, 723920)
contrast 1.7 44.4152 36.1009 5526.0000 1072960.0000 (5512, 1070074)
saturation 0.0 42.4317 25.0885 5766.0000 757752.0000 (5793, 764079)
saturation 1.7 45.1699 33.4953 5614.0000 1091612.0000 (5602, 1089182)
hue -0.3 43.7785 28.8903 5612.0000 889522.0000 (5631, 893849)
hue 0.25 44.2319 29.2566 5481.0000 885629.0000 (5490, 887046)
ColorJitter(brightness=(0.6, 1.4), contrast=(0.6, 1.4), saturation=(0.6, 1.4), hue=(-0.1, \
0.1)) RandomApply(
    p=0.6
    ColorJitter(brightness=(0.5, 1.5), contrast=None, saturation=None, hue=None)
    RandomGrayscale(p=0.5)
) RandomErasing(p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=random, inplace=False) \
ColorJitter(brightness=(0.5, 1.5), contrast=None, saturation=None, hue=None)
50.6645 41.0205 (4435, 451585) 52.6181 37.3065 5766.0000 757752.0000
27.8215 9.8696 (5554, 941462) 44.0038 29.1858 5766.0000 757752.0000
53.8700 37.0272 (6190, 1033530) 44.0038 29.1858 5528.0000 864504.0000
720.0000 720.0000
587.9187 773.5699
583.2000 547.7800
If brightness is a single number, it must be non negative.
hue values should be between (-0.5, 0.5), but got [-0.7, 0.7].
hue_factor (0.6) is not in [-0.5, 0.5].
contrast_factor (-1) is not non-negative.
If value is str, it should be 'random'
"""


def test_colours_are_changed_as_torchvision_changes_them() -> None:
    assert printed(JITTER) == OF_JITTER
