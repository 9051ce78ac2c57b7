"""Tests: what PyTorch has and gradcli lacks is listed, and an error says so."""

from __future__ import annotations

import inspect
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from oracle import oracle, question
from test_language import ran

import gradcli
from gradcli.diagnostics import ProgramError
from gradcli.language.attributes import get_attribute
from gradcli.language.modules import REAL
from gradcli.language.names import known_paths
from gradcli.namespace.absent import ABSENT


@question
def public_names(lib: Any, space: str) -> Any:
    """The names of a module of PyTorch's that are its own, or that it lists."""
    if space == "torch.Tensor":
        return [name for name in dir(lib.Tensor) if not name.startswith("_")]
    module = import_module(space)
    names = {*getattr(module, "__all__", ())}
    names.update(part.name for part in iter_modules(getattr(module, "__path__", ())))
    for name, value in vars(module).items():
        own = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
        if value is not lib and (own or space).startswith("torch"):
            names.add(name)
    return sorted(name for name in names if not name.startswith("_") and len(name) > 1)


def is_there(space: str, name: str) -> bool:
    if space == "torch.Tensor":
        try:
            get_attribute(gradcli.ones(2, 2), name)
        except AttributeError:
            return False
        except RuntimeError:  # it is there, and not for this tensor
            return True
        return True
    values, spaces = known_paths()
    return f"{space}.{name}" in values or f"{space}.{name}" in spaces


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("space", ABSENT)
def test_absent_names_are_listed(space: str) -> None:
    lacking = [name for name in oracle.ask("public_names", space) if not is_there(space, name)]
    assert ABSENT[space].split() == lacking


@pytest.mark.parametrize(
    ("text", "type_", "name"),
    [
        (
            "torch.sparse_bsr_tensor([0, 1], [0], [1.0])",
            "AttributeError",
            "torch.sparse_bsr_tensor",
        ),
        ("torch.ones(2).to_sparse_csc()", "AttributeError", "torch.Tensor.to_sparse_csc"),
        ("torch._foreach_add_([torch.ones(1)], 1)", "AttributeError", "torch._foreach_add_"),
        ("def f():\n  from torch.jit import fork\nf()", "ImportError", "torch.jit.fork"),
    ],
)
def test_errors_say_what_is_absent(text: str, type_: str, name: str) -> None:
    _, outcome = ran(text)
    assert outcome.error is not None
    assert (outcome.error.type, outcome.error.message) == (type_, f"gradcli does not have {name}")
    assert outcome.error.notes == (f"help: {REAL}",)


def test_what_pytorch_lacks_too_is_told_in_its_words() -> None:
    text = "try: torch.sinn\nexcept AttributeError as e: print(e)\nprint(hasattr(torch, 'nested'))"
    assert ran(text)[0] == "module 'torch' has no attribute 'sinn'\nFalse\n"
    with pytest.raises(ProgramError, match=r"gradcli does not have torch\.func\.functionalize"):
        ran("from torch.func import functionalize\nfunctionalize()")
    with pytest.raises(AttributeError, match=r"gradcli does not have torch\.fx"):
        gradcli.fx  # noqa: B018
