"""language: torchvision as far as first lessons go: MNIST and its kin from --data, transforms."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy

from ...engine.construct import as_tensor, from_numpy
from ...engine.settable import Takes
from ...engine.tensor import Tensor
from ...inputs import InputError
from ...inputs.readers import read
from ...utils.data import Dataset
from ..calls import call
from ..formatting import quoted
from ..operations import collect, type_name
from ..session import session
from .published import classes, functions


class Image:
    """What stands for a picture of PIL: grey levels."""

    _torch_name = "PIL.Image.Image"
    PUBLIC = ("size", "mode", "width", "height", "convert", "show", "resize")
    __slots__ = ("_pixels", "height", "mode", "size", "width")

    def __init__(self, pixels: Any) -> None:
        self._pixels = pixels
        self.height, self.width = (int(size) for size in pixels.shape)
        self.size, self.mode = (self.width, self.height), "L"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._pixels.astype(dtype or self._pixels.dtype)

    def convert(self, mode: str = "L") -> Image:
        if mode != "L":
            raise ValueError(f"a picture of these data sets is of mode 'L', not {mode!r}")
        return self

    def resize(self, size: Any, *more: Any) -> Image:
        raise NotImplementedError("a picture can't be resized here")

    def show(self) -> None:
        """Nothing is drawn."""

    def __repr__(self) -> str:
        place = session.address_of(self)
        return f"<PIL.Image.Image image mode=L size={self.width}x{self.height} at {place}>"


# ---------------------------------------------------------------- data sets


class MNIST(Dataset):
    """70,000 pictures of 28 x 28 in four IDX files, packed or not."""

    _torch_name = "torchvision.datasets.mnist.MNIST"
    PUBLIC = ("data", "targets", "classes", "class_to_idx", "train", "transform",
              "target_transform", "root")  # fmt: skip
    TAKES: Mapping[str, Takes] = {"*": Takes.VALUE, "transform": Takes.CALLABLE,
                                  "target_transform": Takes.CALLABLE}  # fmt: skip
    classes: Any = [f"{digit} - {word}" for digit, word in enumerate(
        "zero one two three four five six seven eight nine".split())]  # fmt: skip

    def __init__(
        self, root: Any = "data", train: bool = True, transform: Any = None,
        target_transform: Any = None, download: bool = False,
    ) -> None:  # fmt: skip
        self.root, self.train = root, bool(train)
        self.transform, self.target_transform = transform, target_transform
        self.classes = list(type(self).classes)
        self.class_to_idx = {name: place for place, name in enumerate(self.classes)}
        part = "train" if train else "t10k"
        name = _set_of(type(self))
        images, labels = _read(name, f"{part}-images-idx3-ubyte"), _read(
            name, f"{part}-labels-idx1-ubyte"
        )  # fmt: skip
        if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
            raise RuntimeError("the files of --data are not a set of pictures with labels")
        self._pixels = images
        self._labels = labels.tolist()
        self.data: Any = from_numpy(images)
        self.targets: Any = from_numpy(labels.astype("int64"))

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, index: Any) -> Any:
        index = int(index)
        image: Any = Image(self._pixels[index])
        target: Any = self._labels[index]
        if self.transform is not None:
            image = call(self.transform, (image,), {})
        if self.target_transform is not None:
            target = call(self.target_transform, (target,), {})
        return image, target

    def __repr__(self) -> str:
        name = _set_of(type(self))
        lines = [
            f"Dataset {name}",
            f"    Number of datapoints: {len(self)}",
            f"    Root location: {self.root}",
            f"    Split: {'Train' if self.train else 'Test'}",
        ]
        if self.transform is not None:
            first, *rest = quoted(self.transform).split("\n")
            lines += ["    StandardTransform", f"Transform: {first}"]
            lines += [" " * 11 + line for line in rest]
        return "\n".join(lines)


class FashionMNIST(MNIST):
    """The same of clothes."""

    _torch_name = "torchvision.datasets.mnist.FashionMNIST"
    classes = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
               "Bag", "Ankle boot"]  # fmt: skip


class KMNIST(MNIST):
    """The same of Japanese letters."""

    _torch_name = "torchvision.datasets.mnist.KMNIST"
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


def _set_of(kind: type) -> str:
    """The name of the set, of a program's own class too."""
    return next(base.__name__ for base in kind.__mro__ if base.__module__ == __name__)


def _read(name: str, file: str) -> Any:
    """A file of the folder that --data names, or of the places where torchvision puts it."""
    if session.folder is None:
        raise RuntimeError("Dataset not found. A program can't download; --data names its folder")
    for place in ("", f"{name}/raw", f"{name}", f"{name.lower()}"):
        for suffix in ("", ".gz"):
            path = os.path.join(session.folder, place, file + suffix)
            if os.path.isfile(path):
                try:
                    return read(path, most=session.budget.max_memory)
                except InputError as error:
                    raise RuntimeError(str(error)) from None
    raise RuntimeError(f"Dataset not found. --data {session.folder} has no file {file}[.gz]")


# ---------------------------------------------------------------- transforms


class ToTensor:
    _torch_name = "torchvision.transforms.transforms.ToTensor"
    PUBLIC = ()

    def __call__(self, pic: Any) -> Any:
        return _to_tensor(pic)

    def __repr__(self) -> str:
        return "ToTensor()"


def _to_tensor(pic: Any) -> Any:
    """Grey levels to numbers from 0 to 1."""
    pixels = getattr(pic, "_pixels", None) if type(pic) is Image else None
    if pixels is None:
        array = getattr(pic, "array", None)
        if array is None or array.ndim not in (2, 3):
            raise TypeError(f"pic should be PIL Image or ndarray. Got {type_name(pic)}")
        pixels = array if array.ndim == 2 else array.transpose(2, 0, 1)
    session.budget.charge_bytes(4 * int(pixels.size))
    plane = pixels[None] if pixels.ndim == 2 else pixels
    if pixels.dtype == numpy.uint8:
        return from_numpy(plane.astype(numpy.float32) / numpy.float32(255))
    return from_numpy(numpy.ascontiguousarray(plane))


class Normalize:
    _torch_name = "torchvision.transforms.transforms.Normalize"
    PUBLIC = ("mean", "std", "inplace")

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        self.mean, self.std, self.inplace = mean, std, inplace

    def __call__(self, tensor: Any) -> Any:
        return _normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self) -> str:
        return f"Normalize(mean={quoted(self.mean)}, std={quoted(self.std)})"


def _normalize(tensor: Any, mean: Any, std: Any, inplace: bool = False) -> Any:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type_name(tensor)}")
    given: Any = tensor
    made: list[Any] = [as_tensor(value, dtype=given.dtype) for value in (mean, std)]
    if bool((made[1] == 0).any()):
        raise ValueError("std evaluated to zero after conversion, leading to division by zero.")
    shift, scale = (value.view(-1, 1, 1) if value.dim() == 1 else value for value in made)
    out = given if inplace else given.clone()
    return out.sub_(shift).div_(scale)


class Compose:
    _torch_name = "torchvision.transforms.transforms.Compose"
    PUBLIC = ("transforms",)

    def __init__(self, transforms: Any) -> None:
        self.transforms = collect(transforms)

    def __call__(self, img: Any) -> Any:
        for transform in self.transforms:
            img = call(transform, (img,), {})
        return img

    def __repr__(self) -> str:
        rows = "".join(f"    {quoted(transform)}\n" for transform in self.transforms)
        return f"Compose(\n{rows})"


class Lambda:
    _torch_name = "torchvision.transforms.transforms.Lambda"
    PUBLIC = ("lambd",)

    def __init__(self, lambd: Any) -> None:
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        return call(self.lambd, (img,), {})

    def __repr__(self) -> str:
        return "Lambda()"


_SETS = classes([MNIST, FashionMNIST, KMNIST])
_FUNCTIONS: dict[str, Callable[..., Any]] = {"to_tensor": _to_tensor, "normalize": _normalize}
MODULES: dict[str, dict[str, Any]] = {
    "torchvision": {"__version__": "0.28.0"},
    "torchvision.datasets": _SETS,
    "torchvision.datasets.mnist": _SETS,
    "torchvision.transforms": classes([Compose, ToTensor, Normalize, Lambda]),
    "torchvision.transforms.functional": functions(_FUNCTIONS),
}
