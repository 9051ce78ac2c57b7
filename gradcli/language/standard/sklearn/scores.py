"""language: sklearn.metrics: how well predictions agree with what is true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ....arrays.payment import pay
from ....arrays.values import host, wrap
from .. import arrays as _operations  # noqa: F401 - of the arrays that are handed out
from ..publishing import functions
from .samples import BYTES, paid


def _pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    first, second = numpy.asarray(host(y_true)), numpy.asarray(host(y_pred))
    pay(8 * (first.size + second.size), 2 * BYTES * (first.size + second.size))
    if len(first) != len(second):
        sizes = [len(first), len(second)]
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {sizes}")
    return first, second


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: Any = True) -> Any:
    first, second = _pair(y_true, y_pred)
    same = first == second
    if same.ndim > 1:
        same = same.all(axis=1)
    return float(numpy.average(same)) if normalize else float(same.sum())


def confusion_matrix(y_true: Any, y_pred: Any) -> Any:
    first, second = (part.ravel() for part in _pair(y_true, y_pred))
    kinds = numpy.unique(numpy.concatenate([first, second]))
    paid(len(kinds), len(kinds))
    table = numpy.zeros((len(kinds), len(kinds)), dtype=numpy.int64)
    numpy.add.at(table, (numpy.searchsorted(kinds, first), numpy.searchsorted(kinds, second)), 1)
    return wrap(table)


def _error(measure: Callable[[Any], Any]) -> Callable[..., Any]:
    def error(y_true: Any, y_pred: Any) -> Any:
        first, second = (part.reshape(len(part), -1) for part in _pair(y_true, y_pred))
        return float(numpy.average(numpy.average(measure(second - first), axis=0)))

    return error


def r2_score(y_true: Any, y_pred: Any) -> Any:
    first, second = (part.reshape(len(part), -1) for part in _pair(y_true, y_pred))
    left = ((first - second) ** 2).sum(axis=0, dtype=numpy.float64)
    whole = ((first - numpy.average(first, axis=0)) ** 2).sum(axis=0, dtype=numpy.float64)
    scores = numpy.where(
        whole == 0, numpy.where(left == 0, 1.0, 0.0), 1 - left / (whole + (whole == 0))
    )
    return float(numpy.average(scores))


# ---------------------------------------------------------------- precision and recall

AVERAGES = (None, "binary", "micro", "macro", "weighted")
Counts = tuple[Any, Any, Any]  # found rightly, predicted, true: of each label


def _counted(y_true: Any, y_pred: Any, labels: Any) -> tuple[Any, Counts]:
    first, second = (part.ravel() for part in _pair(y_true, y_pred))
    present = numpy.unique(numpy.concatenate([first, second]))
    kinds = present if labels is None else numpy.asarray(host(labels))
    paid(len(kinds), len(present))
    rows = [(first == kind, second == kind) for kind in kinds]
    return kinds, (
        numpy.array([(true & said).sum() for true, said in rows], dtype=numpy.int64),
        numpy.array([said.sum() for _, said in rows], dtype=numpy.int64),
        numpy.array([true.sum() for true, _ in rows], dtype=numpy.int64),
    )


def _share(part: Any, whole: Any, nothing: float) -> Any:
    part, whole = numpy.atleast_1d(part).astype(float), numpy.atleast_1d(whole)
    return numpy.where(whole == 0, nothing, part / numpy.where(whole == 0, 1, whole))


def _measures(counts: Counts, zero_division: Any) -> list[Any]:
    """Precision, recall and F1 of each row of counts."""
    nothing = 0.0 if zero_division == "warn" else float(zero_division)
    right, said, true = counts
    return [
        _share(right, said, nothing), _share(right, true, nothing),
        _share(2 * right, said + true, nothing),
    ]  # fmt: skip


def _together(counts: Counts, average: str, zero_division: Any) -> list[float]:
    if average == "micro":
        right, said, true = counts
        counts = (right.sum(), said.sum(), true.sum())
    found = _measures(counts, zero_division)
    weights = counts[2] if average == "weighted" else None
    if weights is not None and not weights.sum():
        return [0.0] * len(found)
    return [float(numpy.average(measure, weights=weights)) for measure in found]


def precision_recall_fscore_support(
    y_true: Any, y_pred: Any, *, labels: Any = None, pos_label: Any = 1, average: Any = None,
    zero_division: Any = "warn",
) -> Any:  # fmt: skip
    if average not in AVERAGES:
        raise ValueError(f"average has to be one of {AVERAGES}")
    kinds, counts = _counted(y_true, y_pred, labels)
    if average is None:
        return (*map(wrap, _measures(counts, zero_division)), wrap(counts[2]))
    if average == "binary":
        if len(kinds) > 2:
            raise ValueError(
                "Target is multiclass but average='binary'. Please choose another average setting, "
                "one of [None, 'micro', 'macro', 'weighted']."
            )
        _, counts = _counted(y_true, y_pred, [pos_label])
    return (*_together(counts, average, zero_division), None)


def _one_of_three(place: int) -> Callable[..., Any]:
    def score(
        y_true: Any, y_pred: Any, *, labels: Any = None, pos_label: Any = 1,
        average: Any = "binary", zero_division: Any = "warn",
    ) -> Any:  # fmt: skip
        return precision_recall_fscore_support(
            y_true, y_pred, labels=labels, pos_label=pos_label, average=average,
            zero_division=zero_division,
        )[place]  # fmt: skip

    return score


def classification_report(
    y_true: Any, y_pred: Any, *, labels: Any = None, target_names: Any = None, digits: Any = 2,
    output_dict: Any = False, zero_division: Any = "warn",
) -> Any:  # fmt: skip
    kinds, counts = _counted(y_true, y_pred, labels)
    names = [str(kind) for kind in kinds] if target_names is None else list(target_names)
    if len(names) != len(kinds):
        raise ValueError(
            f"Number of classes, {len(kinds)}, does not match size of target_names, {len(names)}. "
            "Try specifying the labels parameter"
        )
    columns = ("precision", "recall", "f1-score", "support")
    whole = int(counts[2].sum())
    rows: dict[str, Any] = {}
    for name, *cells in zip(names, *_measures(counts, zero_division), counts[2], strict=True):
        rows[name] = [float(cell) for cell in cells]
    everything = labels is None or set(numpy.unique(host(y_true)).tolist()) <= set(kinds.tolist())
    for average in ("micro", "macro", "weighted"):
        cells = [*_together(counts, average, zero_division), whole]
        if average != "micro":
            rows[f"{average} avg"] = cells
        elif everything:
            rows["accuracy"] = cells
        else:
            rows["micro avg"] = cells
    if output_dict:
        return {
            name: cells[0] if name == "accuracy" else dict(zip(columns, cells, strict=True))
            for name, cells in rows.items()
        }
    return _report(rows, len(names), columns, digits)


def _report(rows: dict[str, Any], own: int, columns: tuple[str, ...], digits: int) -> str:
    width = max(*map(len, rows), len("weighted avg"), digits)
    head = f"{'':>{width}s} " + "".join(f" {column:>9}" for column in columns)
    lines = [head, ""]
    for place, (name, cells) in enumerate(rows.items()):
        if place == own:
            lines.append("")
        shown = [f"{cell:>9.{digits}f}" for cell in cells[:3]]
        if name == "accuracy":
            shown[:2] = [f"{'':>9}", f"{'':>9}"]
        lines.append(f"{name:>{width}s}  " + " ".join([*shown, f"{int(cells[3]):>9}"]))
    return "\n".join(lines) + "\n"


def balanced_accuracy_score(y_true: Any, y_pred: Any) -> Any:
    _, (right, _, true) = _counted(y_true, y_pred, None)
    return float(numpy.mean(right[true > 0] / true[true > 0]))


def roc_auc_score(y_true: Any, y_score: Any) -> Any:
    """Of two classes: how often a positive is scored above a negative, ties for half."""
    first, second = (part.ravel() for part in _pair(y_true, y_score))
    kinds = numpy.unique(first)
    if len(kinds) != 2:
        raise ValueError("roc_auc_score takes two classes here")
    _, places, counts = numpy.unique(second, return_inverse=True, return_counts=True)
    ranks = (numpy.cumsum(counts) - (counts - 1) / 2)[places]
    positive = first == kinds[1]
    many = int(positive.sum())
    above = ranks[positive].sum() - many * (many + 1) / 2
    return float(above / (many * (len(first) - many)))


MODULES: dict[str, Any] = {
    "sklearn.metrics": functions({
        "accuracy_score": accuracy_score, "confusion_matrix": confusion_matrix,
        "mean_squared_error": _error(lambda part: part**2),
        "mean_absolute_error": _error(numpy.abs), "r2_score": r2_score,
        "precision_score": _one_of_three(0), "recall_score": _one_of_three(1),
        "f1_score": _one_of_three(2), "classification_report": classification_report,
        "precision_recall_fscore_support": precision_recall_fscore_support,
        "balanced_accuracy_score": balanced_accuracy_score, "roc_auc_score": roc_auc_score,
    }),
}  # fmt: skip
