"""The fuzzer's two sides: a program under gradcli, and the same text under Python and PyTorch.

What a run left is described for both in the same words, through the attributes that PyTorch
documents, so that what differs is what they answer.
"""

from __future__ import annotations

import contextlib
import io
import re
import signal
import traceback
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gradcli.engine.schema.run_state import as_new
from gradcli.engine.tensors.tensor import Tensor
from gradcli.nn import Module
from gradcli.pipeline.request import Limits, Request
from gradcli.pipeline.run import execute

LIMITS = Limits(timeout=20.0, max_steps=2_000_000, max_nodes=200_000, max_memory=2**30)
SECONDS = 20  # a program that was cut down may never end
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_TRIGGERED = re.compile(r"\s*\(Triggered internally at .*?\)\s*$", re.S)
PREAMBLE = """\
import torch
from torch import *
import torch.nn.functional as F
from torch import nn, optim, autograd
from torch.autograd import Variable
import torch.utils.checkpoint, torch.func, torch.autograd.functional, torch.autograd.graph
import math
"""


class Left(NamedTuple):
    """What a program left behind."""

    output: str
    error: tuple[str, str, int | None] | None  # its type, the first line of its message, its line
    warnings: tuple[str, ...]
    names: dict[str, dict[str, Any]]  # what global names hold


def ours(text: str) -> Left:
    """The program under gradcli, as `gradcli run` runs it."""
    with as_new(), alarm():
        ran = execute(Request(text.encode(), "program.expr", limits=LIMITS), None)
        error = None
        if ran.error is not None:
            message = first_line(ran.error.message)
            error = (ran.error.type, message, ran.error.line)
        bindings = {} if ran.outcome is None else ran.outcome.bindings
        names = described(bindings, Tensor, Module)
    return Left(_ADDRESS.sub("", ran.output), error, warned(ran.warnings), names)


class PyTorch:
    """The other side, made once in a process."""

    def __init__(self, torch: Any) -> None:
        import builtins

        self.torch = torch
        torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)  # what it imports late
        names: dict[str, Any] = {}
        exec(PREAMBLE, names)
        # Kept where Python looks last, so that the globals hold what the program binds.
        self.known = {**names, **vars(builtins)}

    def reset(self) -> None:
        torch = self.torch
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        torch.set_printoptions(profile="default")
        torch.autograd.set_detect_anomaly(False)
        torch.random.default_generator.manual_seed(67280421310721)

    def left(self, text: str, more: Mapping[str, Any] | None = None, inside: Any = None) -> Left:
        """The program under Python; `more` are names in place of PyTorch's, `inside` a context."""
        self.reset()
        out, error = io.StringIO(), None
        names: dict[str, Any] = {
            "__name__": "__main__",
            "__builtins__": {**self.known, **more} if more else self.known,
        }
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with contextlib.redirect_stdout(out), alarm(), inside or contextlib.nullcontext():
                try:
                    exec(compile(text, "program.expr", "exec"), names)
                except Exception as raised:
                    error = (type(raised).__name__, first_line(message_of(raised)), line_of(raised))
        self.reset()
        del names["__builtins__"], names["__name__"]
        told = [
            str(w.message) for w in caught
            if not issubclass(w.category, (DeprecationWarning, PendingDeprecationWarning))
        ]  # fmt: skip
        found = described(names, self.torch.Tensor, self.torch.nn.Module)
        return Left(_ADDRESS.sub("", out.getvalue()), error, warned(told), found)


class Endless(Exception):
    """A program did not end."""


@contextlib.contextmanager
def alarm() -> Iterator[None]:
    """Ends a program that never would."""

    def ring(*_: Any) -> None:
        raise Endless

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)  # of work: the machine may be busy
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def first_line(message: str) -> str:
    return _ADDRESS.sub("", _TRIGGERED.sub("", (message.splitlines() or [""])[0]))


def message_of(error: BaseException) -> str:
    return str(error)


def line_of(error: BaseException) -> int | None:
    """The innermost line of the program that an error came through."""
    lines = [
        number for frame, number in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == "program.expr"
    ]  # fmt: skip
    return lines[-1] if lines else None


def warned(messages: Any) -> tuple[str, ...]:
    return tuple(sorted({first_line(message) for message in messages}))


# ---------------------------------------------------------------- what names hold


def described(bindings: Mapping[str, Any], kind: type, module: type) -> dict[str, dict[str, Any]]:
    """Each global name with what it holds; nodes are numbered over all of them."""
    nodes = Nodes()
    found: dict[str, dict[str, Any]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in bindings.items():
            if name.startswith("__"):
                continue
            for label, inner in parts(name, value, kind, module):
                if isinstance(inner, kind):
                    found[label] = of_tensor(inner, nodes, label)
                else:
                    found[label] = {"plain": inner}
    return found


def parts(
    name: str, value: Any, kind: type, module: type, depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """Tensors, and plain values, in a value."""
    if isinstance(value, kind) or value is None or type(value) in (bool, int, float, str, complex):
        yield name, value
    elif depth < 3 and isinstance(value, (list, tuple)):
        yield name, [type(value).__name__.removeprefix("torch."), len(value)]
        for place, item in enumerate(value):
            yield from parts(f"{name}[{place}]", item, kind, module, depth + 1)
    elif depth < 3 and isinstance(value, dict):
        yield name, [str(key) for key in value]
        for key, item in value.items():
            yield from parts(f"{name}[{key!r}]", item, kind, module, depth + 1)
    elif isinstance(value, module):
        try:
            named = [*value.named_parameters(), *value.named_buffers()]
        except AttributeError:  # its __init__ never called that of Module
            return
        yield name, [value.training, [label for label, _ in named]]
        for label, item in named:
            yield f"{name}.{label}", item


class Nodes:
    """Names backward nodes as they are met; holds them, so that an identity stays one."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.alive: list[Any] = []

    def below(self, root: Any, label: str) -> list[Any]:
        """The nodes that were not met before: each with the nodes that its edges lead to."""
        if root is None or id(root) in self.names:
            return []
        fresh, rows = [root], []
        self._name(root, f"{label}#0")
        for node in fresh:
            edges: list[Any] = []
            for child, at in node.next_functions:
                if child is not None and id(child) not in self.names:
                    self._name(child, f"{label}#{len(fresh)}")
                    fresh.append(child)
                edges.append(None if child is None else [self.names[id(child)], at])
            rows.append([node.name().rpartition("::")[2], edges])
        return rows

    def _name(self, node: Any, name: str) -> None:
        self.names[id(node)] = name
        self.alive.append(node)


def of_tensor(tensor: Any, nodes: Nodes, label: str, inner: bool = False) -> dict[str, Any]:
    """Everything that a program can see of a tensor."""
    try:
        return facts_of(tensor, nodes, label, inner)
    except RuntimeError as error:  # a view that may not be used any more
        return {"broken": first_line(str(error))}


def facts_of(tensor: Any, nodes: Nodes, label: str, inner: bool) -> dict[str, Any]:
    node = tensor.grad_fn
    facts = {
        "value": values(tensor.detach()),
        "type": [str(tensor.dtype), list(tensor.shape)],
        "strides": strides(tensor),
        "flags": [tensor.requires_grad, tensor.is_leaf, bool(tensor.retains_grad)],
        "graph": nodes.below(node, label),
        "node": None if node is None else [nodes.names[id(node)], tensor.output_nr],
        "version": version(tensor),
        "view": [tensor._is_view(), tensor.is_inference()],
    }
    grad = tensor.grad
    if not inner:
        facts["grad"] = (
            None if grad is None else of_tensor(grad, nodes, f"{label}.grad", inner=True)
        )
    return facts


def strides(tensor: Any) -> list[int]:
    """Where they matter: a dimension of one element is never stepped along."""
    if not tensor.numel():
        return []
    return [step if size > 1 else 0 for step, size in zip(tensor.stride(), tensor.shape)]


def version(tensor: Any) -> int | None:
    try:
        return int(tensor._version)
    except RuntimeError:  # of inference
        return None


def values(tensor: Any) -> Any:
    try:
        return tensor.tolist()
    except RuntimeError:  # a symbolic zero, which clone gives its memory
        return tensor.clone().tolist()
