"""language: torchvision.datasets: MNIST, CIFAR and their kin, from the folder of --data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy

from ....arrays.values import Array
from ....engine.schema.operator import warn
from ....engine.schema.settable import Takes
from ....engine.tensors.tensor import Tensor
from ....inputs import InputError
from ....inputs.cifar import pickled, records
from ....inputs.readers import read
from ....namespace import resolve
from ....utils.data.dataset import Dataset
from ...calls import call
from ...formatting import quoted
from ...operations import get_item, length
from ...session import session
from ..arrays import array_value
from ..publishing import classes
from .pictures import Image

from_numpy: Any = resolve("from_numpy")  # the first name attaches the operators of tensors


class VisionDataset(Dataset):
    """Pictures in `data` with a label each in `targets`, both of which a program may replace."""

    _torch_name = "torchvision.datasets.vision.VisionDataset"
    PUBLIC: tuple[str, ...] = ("data", "targets", "classes", "class_to_idx", "train", "transform",
              "target_transform", "root")  # fmt: skip
    TAKES: Mapping[str, Takes] = {"*": Takes.VALUE, "transform": Takes.CALLABLE,
                                  "target_transform": Takes.CALLABLE}  # fmt: skip
    classes: Any = ()
    data: Any = ()
    targets: Any = ()

    def __init__(
        self, root: Any = "data", train: bool = True, transform: Any = None,
        target_transform: Any = None, download: bool = False,
    ) -> None:  # fmt: skip
        if session.folder is None:
            raise RuntimeError(
                "Dataset not found. A program can't download; --data names its folder"
            )
        self.root, self.train = root, bool(train)
        self.transform, self.target_transform = transform, target_transform
        self.classes = list(type(self).classes)
        self._load()
        self.class_to_idx = {name: place for place, name in enumerate(self.classes)}

    def _load(self) -> None:
        """Reads `data` and `targets`."""
        raise NotImplementedError

    def __len__(self) -> int:
        return length(self.data)

    def __getitem__(self, index: Any) -> Any:
        index = int(index)
        image: Any = Image(_pixels(self.data, index))
        target: Any = get_item(self.targets, index)
        if isinstance(target, Tensor):
            target = int(target)
        if self.transform is not None:
            image = call(self.transform, (image,), {})
        if self.target_transform is not None:
            target = call(self.target_transform, (target,), {})
        return image, target

    def __repr__(self) -> str:
        lines = [
            f"Dataset {_set_of(type(self))}",
            f"    Number of datapoints: {len(self)}",
            f"    Root location: {self.root}",
            f"    Split: {'Train' if self.train else 'Test'}",
        ]
        if self.transform is not None:
            first, *rest = quoted(self.transform).split("\n")
            lines += ["    StandardTransform", f"Transform: {first}"]
            lines += [" " * 11 + line for line in rest]
        return "\n".join(lines)


def _pixels(data: Any, index: int) -> Any:
    """The bytes of one picture of an array or a tensor."""
    rows = data.array if type(data) is Array else data
    picture = rows[index]
    if isinstance(picture, Tensor):
        picture = picture.numpy()
    if not isinstance(picture, numpy.ndarray) or picture.dtype != numpy.uint8:
        raise TypeError("Cannot handle this data type")
    if picture.ndim != 2 and (picture.ndim != 3 or picture.shape[2] != 3):
        raise TypeError("Cannot handle this data type")
    return picture


class MNIST(VisionDataset):
    """70,000 pictures of 28 x 28 in four IDX files, packed or not."""

    _torch_name = "torchvision.datasets.mnist.MNIST"
    PUBLIC = ("train_data", "train_labels", "test_data", "test_labels")
    classes: Any = [f"{digit} - {word}" for digit, word in enumerate(
        "zero one two three four five six seven eight nine".split())]  # fmt: skip

    def _load(self) -> None:
        part = "train" if self.train else "t10k"
        name = _set_of(type(self))
        images, labels = (
            _read(name, f"{part}-{what}-ubyte") for what in ("images-idx3", "labels-idx1")
        )
        fits = (images.ndim, labels.ndim) == (3, 1) and len(images) == len(labels)
        if not fits or not images.dtype == labels.dtype == numpy.uint8:
            raise RuntimeError("the files of --data are not a set of pictures with labels")
        self.data = from_numpy(images)
        self.targets = from_numpy(labels.astype("int64"))


def _renamed(old: str, new: str) -> property:
    """A name of before, which still answers."""

    def read(self: Any) -> Any:
        warn(f"{old} has been renamed {new}")
        return getattr(self, new)

    return property(read)


for _part in ("train", "test"):
    setattr(MNIST, f"{_part}_data", _renamed(f"{_part}_data", "data"))
    setattr(MNIST, f"{_part}_labels", _renamed(f"{_part}_labels", "targets"))


class FashionMNIST(MNIST):
    """The same of clothes."""

    _torch_name = "torchvision.datasets.mnist.FashionMNIST"
    classes = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
               "Bag", "Ankle boot"]  # fmt: skip


class KMNIST(MNIST):
    """The same of Japanese letters."""

    _torch_name = "torchvision.datasets.mnist.KMNIST"
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


class CIFAR10(VisionDataset):
    """60,000 coloured pictures of 32 x 32, in the binary or in the Python version."""

    _torch_name = "torchvision.datasets.cifar.CIFAR10"
    classes = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship",
               "truck"]  # fmt: skip
    # The folders of both versions, the files of both splits, and where the labels stand: in the
    # binary records, and under a key of the pickle.
    FOLDERS = ("cifar-10-batches-bin", "cifar-10-batches-py")
    FILES = ([f"data_batch_{number}" for number in range(1, 6)], ["test_batch"])
    LABELS: tuple[int, int, str] = (1, 0, "labels")

    def _load(self) -> None:
        parts = [self._part(name) for name in self.FILES[0 if self.train else 1]]
        images, labels = zip(*parts, strict=True)
        session.budget.charge_bytes(sum(part.nbytes for part in images))
        self.data = array_value(numpy.concatenate(images))
        self.targets = [label for part in labels for label in part]

    def _part(self, name: str) -> tuple[Any, list[int]]:
        """The pictures and the labels of one file."""
        count, place, key = self.LABELS
        most = session.budget.max_memory
        path = _data_file(self.FOLDERS[:1], (f"{name}.bin",))
        try:
            if path is not None:
                images, columns = records(path, count, most)
                return images, columns[place]
            path = _data_file(self.FOLDERS[1:], (name,))
            held: dict[str, Any] = {} if path is None else pickled(path, most)
        except InputError as error:
            raise RuntimeError("; ".join(filter(None, (str(error), error.advice)))) from None
        if path is None:
            raise RuntimeError(
                f"Dataset not found. --data {session.folder} has no file {name}[.bin]"
            )
        data, numbers = held.get("data"), held.get(key)
        whole = isinstance(data, numpy.ndarray) and type(numbers) is list
        if not whole or len(data) != len(numbers) or {*map(type, numbers)} - {int}:  # type: ignore[arg-type]
            raise RuntimeError(f"{path} is not a set of pictures with labels")
        return data, numbers  # type: ignore[return-value]


class CIFAR100(CIFAR10):
    """The same with a hundred classes, whose names are in order."""

    _torch_name = "torchvision.datasets.cifar.CIFAR100"
    classes = (
        "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus "
        "butterfly camel can castle caterpillar cattle chair chimpanzee clock cloud cockroach "
        "couch crab crocodile cup dinosaur dolphin elephant flatfish forest fox girl hamster "
        "house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree "
        "motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear "
        "pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket "
        "rose sea seal shark shrew skunk skyscraper snail snake spider squirrel streetcar "
        "sunflower sweet_pepper table tank telephone television tiger tractor train trout tulip "
        "turtle wardrobe whale willow_tree wolf woman worm"
    ).split()
    FOLDERS = ("cifar-100-binary", "cifar-100-python")
    FILES = (["train"], ["test"])
    LABELS = (2, 1, "fine_labels")


def _set_of(kind: type) -> str:
    """The name of the set, of a program's own class too."""
    return next(base.__name__ for base in kind.__mro__ if base.__module__ == __name__)


def _data_file(places: tuple[str, ...], names: tuple[str, ...]) -> str | None:
    """A file in the folder that --data names, or in a folder below it."""
    for place in ("", *places):
        for name in names:
            path = os.path.join(session.folder or "", place, name)
            if os.path.isfile(path):
                return path
    return None


def _read(name: str, file: str) -> Any:
    """An IDX file of the folder that --data names, or of the places where torchvision puts it."""
    path = _data_file((f"{name}/raw", name, name.lower()), (file, f"{file}.gz"))
    if path is None:
        raise RuntimeError(f"Dataset not found. --data {session.folder} has no file {file}[.gz]")
    try:
        return read(path, most=session.budget.max_memory)
    except InputError as error:
        raise RuntimeError(str(error)) from None


_MNIST = classes([MNIST, FashionMNIST, KMNIST])
_CIFAR = classes([CIFAR10, CIFAR100])
MODULES: dict[str, dict[str, Any]] = {
    "torchvision": {"__version__": "0.28.0"},
    "torchvision.datasets": _MNIST | _CIFAR,
    "torchvision.datasets.mnist": _MNIST,
    "torchvision.datasets.cifar": _CIFAR,
}
