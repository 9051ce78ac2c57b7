"""Tests of calls that fit nothing: the words are PyTorch's, for every name of the catalogue.

`programs/wrong_calls.txt` has calls of wrong shapes, types and settings, found by changing samples.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from misuse import calls, misuse, misused, names
from oracle import oracle

import gradcli

CALLS, NAMES = calls(), names()
WRONG = (Path(__file__).parent / "programs" / "wrong_calls.txt").read_text("utf-8").splitlines()
TOGETHER = 20

_INSIDE = "PyTorch words it further inside, where a function that Python wrote calls another"
_SLOT = "Python words it for the slot behind an operator"
_STEP = "PyTorch names the step behind it"
_BACKENDS = "PyTorch lists all its backends"
_OUT = "PyTorch counts out=... among the positional arguments"

# A difference that is gone fails the test: it is taken off.
DIFFERENCES = {
    "torch.chain_matmul": _INSIDE,
    "torch.einsum": _INSIDE,
    "torch.histogramdd": "PyTorch's parser stops at the first list that holds no tensors",
    "torch.lu": _INSIDE,
    "torch.nn.functional.embedding_bag": _INSIDE,
    "torch.nn.functional.normalize": _OUT,
    "torch.signal.windows.general_cosine": _INSIDE,
    "torch.sparse.addmm": _STEP,
    "torch.sparse.log_softmax": _STEP,
    "torch.sparse.mm": _STEP,
    "torch.sparse.softmax": _STEP,
    "torch.sparse.sum": _STEP,
    "torch.spmm": "PyTorch has it as another name of mm",
    "torch.tensordot": _OUT,
    "x.__getitem__": _SLOT,
    "x.__setitem__": _SLOT,
    "x._dimI": _BACKENDS,
    "x._dimV": _BACKENDS,
    "x._indices": _BACKENDS,
    "x._nnz": _BACKENDS,
    "x._values": _BACKENDS,
    "x.cuda": "there is no GPU here, for one reason or another",
    "x.split": _INSIDE,
    "x.stft": _INSIDE,
    "x.to_sparse_coo": _INSIDE,
    "x.type": "there is one more overload in PyTorch, which it never shows",
    "x.unique_consecutive": _INSIDE,
}


@pytest.mark.parametrize(
    "names",
    [NAMES[at : at + TOGETHER] for at in range(0, len(NAMES), TOGETHER)],
    ids=lambda names: names[0],
)
def test_misuse(names: list[str]) -> None:
    """Of the name and of those behind it."""
    different = {}
    for name in names:
        texts = list(misused(name, CALLS.get(name)))
        theirs, ours = oracle.ask("misuse", texts), misuse(gradcli, texts)
        found = [row for row in zip(texts, ours, theirs, strict=True) if row[1] != row[2]]
        if bool(found) != (name in DIFFERENCES):
            different[name] = found or f"no longer so: {DIFFERENCES[name]}"
    assert different == {}


@pytest.mark.parametrize("start", range(0, len(WRONG), TOGETHER))
def test_wrong_calls(start: int) -> None:
    texts = WRONG[start : start + TOGETHER]
    theirs, ours = oracle.ask("misuse", texts), misuse(gradcli, texts)
    assert dict(zip(texts, ours, strict=True)) == dict(zip(texts, theirs, strict=True))
