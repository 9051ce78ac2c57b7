"""language: sklearn's tables of first lessons: iris, wine, breast_cancer, digits."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy

from ....arrays.payment import pay
from ....arrays.values import wrap
from ...formatting import quoted
from .. import arrays as _operations  # noqa: F401 - of the arrays that are handed out
from ..publishing import classes

TABLES = Path(__file__).parent / "tables"
LISTED = ("iris", "wine")  # whose columns sklearn names in a list, not in an array


class Bunch:
    """What sklearn's load_* gives: a dictionary whose keys are attributes too."""

    _torch_name = "sklearn.utils._bunch.Bunch"
    PUBLIC = ("data", "target", "frame", "target_names", "feature_names", "images", "DESCR", "keys",
              "values", "items", "get")  # fmt: skip

    def __init__(self, **named: Any) -> None:
        self._table = named
        self.__dict__.update(named)

    def __getitem__(self, key: Any) -> Any:
        return self._table[key]

    def __contains__(self, key: Any) -> bool:
        return key in self._table

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Any:
        return iter(list(self._table))

    def keys(self) -> Any:
        return self._table.keys()

    def values(self) -> Any:
        return self._table.values()

    def items(self) -> Any:
        return self._table.items()

    def __repr__(self) -> str:
        return quoted(self._table)

    def get(self, key: Any, default: Any = None, /) -> Any:
        return self._table.get(key, default)


def _load(name: str, return_X_y: Any, as_frame: Any) -> Any:
    if as_frame:
        raise ImportError("load_* with as_frame=True requires pandas.")
    classes_line, columns_line, *rows = gzip.decompress(
        (TABLES / f"{name}.csv.gz").read_bytes()
    ).decode().splitlines()  # fmt: skip
    pay(len(rows) * 100, len(rows) * rows[0].count(",") * 16)
    table = numpy.loadtxt(rows, delimiter=",")
    data, target = numpy.ascontiguousarray(table[:, :-1]), table[:, -1].astype(numpy.int64)
    if return_X_y:
        return wrap(data), wrap(target)
    kinds = numpy.array(classes_line.split(","))
    columns: Any = columns_line.split(",")
    found = {"data": wrap(data), "target": wrap(target), "frame": None}
    if name == "digits":
        columns = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
        images = wrap(data.reshape(-1, 8, 8))
        return Bunch(**found, feature_names=columns, target_names=wrap(kinds.astype(numpy.int64)),
                     images=images, DESCR=name)  # fmt: skip
    named = columns if name in LISTED else wrap(numpy.array(columns))
    return Bunch(**found, target_names=wrap(kinds), DESCR=name, feature_names=named)


def load_iris(*, return_X_y: Any = False, as_frame: Any = False) -> Any:
    """150 flowers of 3 kinds, 4 measures."""
    return _load("iris", return_X_y, as_frame)


def load_wine(*, return_X_y: Any = False, as_frame: Any = False) -> Any:
    """178 wines of 3 growers, 13 measures."""
    return _load("wine", return_X_y, as_frame)


def load_breast_cancer(*, return_X_y: Any = False, as_frame: Any = False) -> Any:
    """569 tumours of 2 kinds, 30 measures."""
    return _load("breast_cancer", return_X_y, as_frame)


def load_digits(*, return_X_y: Any = False, as_frame: Any = False) -> Any:
    """1,797 digits, 8 by 8 points."""
    return _load("digits", return_X_y, as_frame)


LOADERS = {
    "load_iris": load_iris, "load_wine": load_wine, "load_breast_cancer": load_breast_cancer,
    "load_digits": load_digits,
}  # fmt: skip
classes([Bunch])
