"""language: the part of sklearn that first lessons use: splits, scalers, labels as numbers.

The numbers are sklearn's, drawn from NumPy's legacy stream in its order.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Any

import numpy

from ....arrays.payment import pay
from ....arrays.values import Array, host, wrap
from ....engine.tensors.construct import from_numpy
from ....engine.tensors.tensor import Tensor
from ...operations import get_item, length
from .. import arrays as _operations  # noqa: F401 - of the arrays that are handed out
from ..publishing import classes, functions
from .samples import BYTES, Drawn, paid, stream_of

# ---------------------------------------------------------------- splits


def _sizes(total: int, test: Any, train: Any) -> tuple[int, int]:
    """How many are for training and for tests: shares are rounded, tests up and training down."""
    if test is None and train is None:
        test = 0.25
    for word, given in (("test_size", test), ("train_size", train)):
        share = isinstance(given, float)
        if given is not None and not 0 < given < (1 if share else total):
            raise ValueError(
                f"{word}={given} should be either positive and smaller than the number of samples "
                f"{total} or a float in the (0, 1) range"
            )
    test_size = ceil(test * total) if isinstance(test, float) else test
    train_size = floor(train * total) if isinstance(train, float) else train
    if test_size is None:
        test_size = total - train_size
    if train_size is None:
        train_size = total - test_size
    if train_size <= 0 or train_size + test_size > total:
        raise ValueError(
            f"With n_samples={total}, test_size={test} and train_size={train}, the resulting train "
            "set will be empty. Adjust any of the aforementioned parameters."
        )
    return int(train_size), int(test_size)


def _proportional(counts: Any, drawn: int, stream: Drawn) -> Any:
    """How many of each kind are drawn; what is left over goes to the largest remainders."""
    exact = counts / counts.sum() * drawn
    found = numpy.floor(exact)
    left = int(drawn - found.sum())
    rest = exact - found
    for value in numpy.sort(numpy.unique(rest))[::-1]:
        if left <= 0:
            break
        (places,) = numpy.where(rest == value)
        more = min(len(places), left)
        found[stream.choice(places, size=more, replace=False)] += 1
        left -= more
    return found.astype(int)


def _by_kind(kinds: Any, train: int, test: int, stream: Drawn) -> tuple[Any, Any]:
    _, numbers, counts = numpy.unique(kinds, return_inverse=True, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            "The least populated classes in y have only 1 member, which is too few. The minimum "
            "number of groups for any class cannot be less than 2."
        )
    groups = numpy.split(numpy.argsort(numbers, kind="mergesort"), numpy.cumsum(counts)[:-1])
    trained = _proportional(counts, train, stream)
    tested = _proportional(counts - trained, test, stream)
    found: tuple[list[Any], list[Any]] = ([], [])
    for group, first, second in zip(groups, trained, tested, strict=True):
        order = group[stream.permutation(len(group))]
        found[0].extend(order[:first])
        found[1].extend(order[first : first + second])
    return stream.permutation(found[0]), stream.permutation(found[1])


def _picked(value: Any, places: Any) -> Any:
    """The items at these places: of an array, a tensor, or any sequence as a list."""
    if isinstance(value, Array):
        pay(value.array.size, value.array.nbytes)
        return wrap(value.array[places])
    if isinstance(value, Tensor):
        return get_item(value, from_numpy(places.astype(numpy.int64)))
    pay(64 * len(places), BYTES * len(places))
    return [get_item(value, int(place)) for place in places]


def train_test_split(
    *arrays: Any, test_size: Any = None, train_size: Any = None, random_state: Any = None,
    shuffle: Any = True, stratify: Any = None,
) -> Any:  # fmt: skip
    if not arrays:
        raise ValueError("At least one array required as input")
    lengths = [length(value) for value in arrays]
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")
    (total, _) = paid(lengths[0])
    train, test = _sizes(total, host(test_size), host(train_size))
    if not shuffle:
        if stratify is not None:
            raise ValueError("Stratified train/test split is not implemented for shuffle=False")
        order = numpy.arange(total)
        parts = (order[:train], order[train : train + test])
    elif stratify is None:
        order = stream_of(random_state).permutation(total)
        parts = (order[test : test + train], order[:test])
    else:
        kinds = numpy.asarray(host(stratify))
        parts = _by_kind(kinds, train, test, stream_of(random_state))
    return [_picked(value, part) for value in arrays for part in parts]


def shuffle(*arrays: Any, random_state: Any = None, n_samples: Any = None) -> Any:
    """sklearn.utils.shuffle: the rows of all in one random order."""
    if not arrays:
        return None
    lengths = [length(value) for value in arrays]
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")
    (total, _) = paid(lengths[0])
    places = stream_of(random_state).permutation(total)[: host(n_samples)]
    found = [_picked(value, places) for value in arrays]
    return found[0] if len(found) == 1 else found


# ---------------------------------------------------------------- scalers


class _Scaler:
    """Shifts and scales columns by what `fit` saw."""

    __slots__ = ("numbers",)

    def __init__(self) -> None:
        self.numbers: dict[str, Any] = {}

    def fit(self, X: Any, y: Any = None) -> Any:
        self.numbers = self._seen(_table(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        return wrap(self._changed(_table(X, copy=True), self._fitted()))

    def inverse_transform(self, X: Any) -> Any:
        return wrap(self._changed_back(_table(X, copy=True), self._fitted()))

    def _fitted(self) -> dict[str, Any]:
        if not self.numbers:
            raise ValueError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        return self.numbers

    def _seen(self, table: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _changed(self, table: Any, seen: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _changed_back(self, table: Any, seen: dict[str, Any]) -> Any:
        raise NotImplementedError


def _fitted_property(word: str) -> Any:
    return property(lambda self: wrap(self._fitted()[word]))


def _table(given: Any, copy: bool = False) -> Any:
    """Rows of floats."""
    table = numpy.asarray(host(given))
    pay(8 * table.size, 4 * BYTES * table.size)
    if table.dtype.kind != "f":
        table = table.astype(float)
    if table.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {('scalar' if not table.ndim else f'{table.ndim}D')} array "
            f"instead:\nReshape your data either using array.reshape(-1, 1) if "
            "your data has a single feature or array.reshape(1, -1) if it contains a single sample."
        )
    return table.copy() if copy else table


METHODS = ("fit", "transform", "fit_transform", "inverse_transform")


class StandardScaler(_Scaler):
    _torch_name = "sklearn.preprocessing._data.StandardScaler"
    PUBLIC = (*METHODS, "mean_", "var_", "scale_")
    __slots__ = ()
    mean_, var_, scale_ = map(_fitted_property, ("mean_", "var_", "scale_"))

    def __repr__(self) -> str:
        return "StandardScaler()"

    def _seen(self, table: Any) -> dict[str, Any]:
        rows = len(table)
        mean = numpy.nansum(table, axis=0, dtype=numpy.float64) / rows
        rest = table - mean
        lost = numpy.nansum(rest, axis=0)
        var = (numpy.nansum(rest**2, axis=0) - lost**2 / rows) / rows
        tiny = numpy.finfo(numpy.float64).eps
        constant = var <= rows * tiny * var + (rows * mean * tiny) ** 2
        scale = numpy.sqrt(var)
        scale[constant] = 1.0
        return {"mean_": mean, "var_": var, "scale_": scale}

    def _changed(self, table: Any, seen: dict[str, Any]) -> Any:
        table -= seen["mean_"].astype(table.dtype)
        table /= seen["scale_"].astype(table.dtype)
        return table

    def _changed_back(self, table: Any, seen: dict[str, Any]) -> Any:
        table *= seen["scale_"].astype(table.dtype)
        table += seen["mean_"].astype(table.dtype)
        return table


class MinMaxScaler(_Scaler):
    _torch_name = "sklearn.preprocessing._data.MinMaxScaler"
    PUBLIC = (*METHODS, "data_min_", "data_max_", "data_range_", "scale_", "min_")
    __slots__ = ("range",)
    data_min_, data_max_, data_range_ = map(
        _fitted_property, ("data_min_", "data_max_", "data_range_")
    )
    scale_, min_ = _fitted_property("scale_"), _fitted_property("min_")

    def __init__(self, feature_range: Any = (0, 1)) -> None:
        super().__init__()
        self.range = tuple(host(feature_range))

    def __repr__(self) -> str:
        shown = "" if self.range == (0, 1) else f"feature_range={self.range}"
        return f"MinMaxScaler({shown})"

    def _seen(self, table: Any) -> dict[str, Any]:
        low, high = numpy.nanmin(table, axis=0), numpy.nanmax(table, axis=0)
        wide = high - low
        divisor = numpy.where(wide < 10 * numpy.finfo(wide.dtype).eps, wide.dtype.type(1), wide)
        scale = (self.range[1] - self.range[0]) / divisor
        shift = self.range[0] - low * scale
        return {"data_min_": low, "data_max_": high, "data_range_": wide, "scale_": scale,
                "min_": shift}  # fmt: skip

    def _changed(self, table: Any, seen: dict[str, Any]) -> Any:
        table *= seen["scale_"]
        table += seen["min_"]
        return table

    def _changed_back(self, table: Any, seen: dict[str, Any]) -> Any:
        table -= seen["min_"]
        table /= seen["scale_"]
        return table


# ---------------------------------------------------------------- labels


def _labels(given: Any) -> Any:
    found = numpy.asarray(host(given))
    pay(8 * found.size, 2 * BYTES * found.size)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found.ravel()
    if found.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {found.shape} instead.")
    return found


class LabelEncoder:
    """Labels as the numbers of their places in order."""

    _torch_name = "sklearn.preprocessing._label.LabelEncoder"
    PUBLIC = (*METHODS, "classes_")
    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: Any = None

    def __repr__(self) -> str:
        return "LabelEncoder()"

    @property
    def classes_(self) -> Any:
        return wrap(self._fitted())

    def _fitted(self) -> Any:
        if self.known is None:
            raise ValueError(
                "This LabelEncoder instance is not fitted yet. Call 'fit' with appropriate "
                "arguments before using this estimator."
            )
        return self.known

    def fit(self, y: Any) -> Any:
        self.known = numpy.unique(_labels(y))
        return self

    def fit_transform(self, y: Any) -> Any:
        return self.fit(y).transform(y)

    def transform(self, y: Any) -> Any:
        known, labels = self._fitted(), _labels(y)
        new = numpy.setdiff1d(labels, known)
        if len(new):
            shown = new.tolist() if new.dtype.kind in "biuf" else repr(new.tolist()[0])
            raise ValueError(f"y contains previously unseen labels: {shown}")
        return wrap(numpy.searchsorted(known, labels))

    def inverse_transform(self, y: Any) -> Any:
        known, numbers = self._fitted(), _labels(y)
        new = numpy.setdiff1d(numbers, numpy.arange(len(known)))
        if len(new):
            raise ValueError(f"y contains previously unseen labels: {new!s}")
        return wrap(known[numbers])


MODULES: dict[str, Any] = {
    "sklearn.model_selection": functions({"train_test_split": train_test_split}),
    "sklearn.preprocessing": classes([StandardScaler, MinMaxScaler, LabelEncoder]),
    "sklearn.utils": functions({"shuffle": shuffle}),
}  # fmt: skip
