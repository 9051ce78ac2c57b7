"""Tests of the library face as editors see it: stubs, docstrings, signatures, class names."""

from __future__ import annotations

import inspect
import pydoc
import re
from abc import ABC, abstractmethod
from functools import reduce
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import pytest
from mypy import api

import gradcli as torch
from gradcli import stubs
from gradcli.namespace import names
from gradcli.namespace.table import SPACES

HOUSE = Path(stubs.__file__).parent
PROGRAM = """\
import gradcli as torch
import gradcli.nn.functional as F
from gradcli import nn, optim


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 4)
        self.outer = nn.Linear(4, 1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = F.relu(self.inner(x))
        return torch.sigmoid(self.outer(hidden))


torch.manual_seed(0)
model = Net()
x = torch.randn(8, 3, requires_grad=True)
y = (x.sum(1, keepdim=True) > 0).float()
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(3):
    optimizer.zero_grad()
    loss = F.binary_cross_entropy(model(x), y) + 0.1 * (2 - x.pow(2)).mean()
    loss.backward()
    optimizer.step()
top = x.max(0)
product = top.values.view(-1, 1).reshape(3).unsqueeze(0) @ torch.eye(3, dtype=torch.float32)
with torch.no_grad():
    total: float = product.sum().item()
parts: tuple[torch.Tensor, ...] = x.split(2)
solved = torch.linalg.inv(torch.eye(2) * 2.0)
weights = torch.nn.Parameter(torch.zeros(2, 3))
shape: torch.Size = weights.shape
same = torch.cat([x, weights], dim=0).to(torch.device("cpu")).to(torch.float64)
"""
WRONG = """\
import gradcli as torch
torch.sin("no")
torch.ones(2).viw(2)
torch.ones(2).sum(dim="a")
"""


def test_stubs_are_those_of_the_declarations() -> None:
    for path, text in stubs.written().items():
        assert (HOUSE / path).read_text("utf-8") == text, "run python -m gradcli.stubs"


def test_a_type_checker_knows_the_face(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(WRONG)
    given = ["--strict", "--config-file=", f"--cache-dir={tmp_path}", "--no-error-summary"]
    out, _, _ = api.run([*given, str(tmp_path / "right.py"), str(tmp_path / "wrong.py")])
    found = [re.search(r"(\w+)\.py:(\d+): error: .*\[([\w-]+)\]", line) for line in out.split("\n")]
    assert [(one[1], one[2], one[3]) for one in found if one] == [
        ("wrong", "2", "arg-type"), ("wrong", "3", "attr-defined"), ("wrong", "4", "arg-type"),
    ], out  # fmt: skip
    exec(compile(PROGRAM, "right.py", "exec"), {"__name__": "right"})


def test_stubs_have_every_name() -> None:
    text = (HOUSE / "__init__.pyi").read_text("utf-8")
    of_tensor = text[text.index("class Tensor(") :]
    public = [name for name in dir(torch.Tensor) if not name.startswith("_")]
    assert [n for n in public if not re.search(rf"^    (def )?{n}\b", of_tensor, re.M)] == []


@pytest.mark.parametrize(
    ("function", "signature", "words"),
    [
        (torch.sin, "(input)", "Sine of an angle in radians"),
        (torch.Tensor.sin, "(self)", "Sine of an angle in radians"),
        (torch.add, "(input, other, *, alpha=1)", "add.Tensor(Tensor self, Tensor other"),
        (torch.max, "(input, *args, **kwargs)", "max.dim(Tensor self, int dim"),
        (torch.nn.functional.relu, "(input, inplace=False)", "the gradient at 0 is 0"),
        (torch.linalg.inv, "(A)", "Inverse of a square matrix"),
    ],
)
def test_help_reads_the_declarations(function: Any, signature: str, words: str) -> None:
    assert str(inspect.signature(function)) == signature
    assert words in (inspect.getdoc(function) or "")
    assert words in str(function.__doc__)
    assert words in pydoc.render_doc(function, renderer=pydoc.plaintext)  # type: ignore[attr-defined]


def test_bound_methods_are_described() -> None:
    assert str(inspect.signature(torch.ones(2).sin)) == "()"
    assert str(inspect.signature(torch.ones(2).tril)) == "(diagonal=0)"


def test_classes_are_called_as_pytorch_calls_them() -> None:
    x = torch.ones(2)
    assert str(type(x)) == "<class 'torch.Tensor'>" and str(torch.Size) == "<class 'torch.Size'>"
    assert str(type(x.dtype)) == "<class 'torch.dtype'>"
    assert str(type(x.device)) == "<class 'torch.device'>"
    parts = (x, x.shape, x.dtype, x.device, x.layout, torch.finfo(x.dtype))
    assert [type(part).__name__ for part in parts] == [
        "Tensor", "Size", "dtype", "device", "layout", "finfo",
    ]  # fmt: skip
    with pytest.raises(TypeError, match=r"operand type\(s\) for -: 'torch.Size' and 'int'"):
        x.shape - 1  # type: ignore[operator]


def test_classes_of_the_library_print_their_home_in_pytorch() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    kinds = (net, net[0], optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 1), torch.no_grad(),
             torch.ones(2).max(0), torch.utils.data.TensorDataset(torch.ones(1)))  # fmt: skip
    assert [str(type(one))[8:-2] for one in kinds] == [
        "torch.nn.modules.container.Sequential", "torch.nn.modules.linear.Linear",
        "torch.optim.sgd.SGD", "torch.optim.lr_scheduler.StepLR",
        "torch.autograd.grad_mode.no_grad", "torch.return_types.max",
        "torch.utils.data.dataset.TensorDataset"]  # fmt: skip
    with pytest.raises(TypeError, match=r"torch\.nn\.modules\.linear\.Linear is not a Module"):
        torch.nn.Sequential(torch.nn.Linear)

    class Abstract(torch.nn.Module, ABC):
        @abstractmethod
        def head(self) -> None: ...

    class Net(Abstract):
        def head(self) -> None: ...

    assert str(Net).endswith(".Net'>") and isinstance(Net(), torch.nn.Module)
    with pytest.raises(TypeError, match="abstract"):
        Abstract()  # type: ignore[abstract]


def test_the_version_is_pytorchs_where_the_module_is_called_torch() -> None:
    """It is one module under two names, and programs compare `torch.__version__` with numbers."""
    assert torch.__version__ == torch.version.__version__ == "2.13.0"
    ours: dict[str, Any] = {}
    exec("import gradcli\nfrom gradcli import __version__\nfound = gradcli.__version__", ours)
    assert ours["found"] == ours["__version__"] == metadata.version("gradcli")
    both: dict[str, Any] = {}
    exec("def f():\n import gradcli as torch\n return torch.__version__\nfound = f()", both)
    assert both["found"] == "2.13.0"


def test_every_name_is_there() -> None:
    """Whatever of the package is loaded; and a name that is none is refused."""
    import_module("gradcli.autograd")
    for name in names():
        reduce(getattr, name.split("."), torch)
    for space in SPACES:
        found = reduce(getattr, space.split("."), torch)
        with pytest.raises(AttributeError, match="nonsense"):
            found.nonsense  # noqa: B018 - reading it is what fails


def test_classes_of_nn_say_what_they_take() -> None:
    """A sentence, shapes, and a line for every argument, in PyTorch's order."""
    module = import_module("gradcli.nn")
    for name in module.__all__:
        text = getattr(module, name).__doc__
        call, _, rest = text.partition("\n\n")
        assert call.startswith(f"{name}(") and "\n\nShapes: " in rest, name
        assert "{n}" not in text and "{out}" not in text and "{sizes}" not in text, name
        told = [line.split()[0] for line in rest.partition("Arguments:\n")[2].splitlines()]
        taken = [word for word in re.findall(r"(\w+)(?:=[^,()]*)?[,)]", call) if word in told]
        assert told == taken, name
        assert call.count("=") + call.count(",") == 0 or told, name


def test_a_class_of_ones_own_has_no_docstring_of_its_parent() -> None:
    class Own(torch.nn.Linear):  # type: ignore[misc, name-defined]
        pass

    own = Own(1, 2)
    assert Own.__doc__ is None and own.__doc__ is None
    assert "out_features" in torch.nn.Linear(1, 2).__doc__
    told = pydoc.render_doc(torch.nn.Linear, renderer=pydoc.plaintext)  # type: ignore[attr-defined]
    assert re.search(r"Linear\([\s|]*in_features", told)  # later Pythons break long lines
