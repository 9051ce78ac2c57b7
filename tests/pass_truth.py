"""Tests: what PyTorch says of a program's backward passes: nodes, places, values, gradients.

A function mode hears every call of the program with its place in the text, and hooks on nodes hear
what flows into them.
"""

from __future__ import annotations

import builtins
import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

from oracle import question

FILE = "<program>"
PYTHONS = (
    "sum",
    "range",
    "abs",
    "min",
    "max",
    "pow",
    "all",
    "any",
    "round",
    "float",
    "int",
    "bool",
)
LARGEST = 64  # elements of a value that is told


class Recorder:
    """One run of a program under PyTorch."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.places: dict[int, list[Any] | None] = {}  # by a node's identity
        self.values: dict[tuple[int, int], Any] = {}
        self.kept: list[Any] = []
        self.passes: list[dict[str, Any]] = []
        self.depth = 0

    # ---- places and values

    def place(self) -> list[Any] | None:
        """The innermost expression of the program that is being evaluated."""
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != FILE:
            frame = frame.f_back
        if frame is None:
            return None
        line, end, column, stop = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        return [line, column, end, stop]

    def note(self, value: Any, place: list[Any] | None, depth: int = 0) -> None:
        """A call gave this: its nodes that are new were made here."""
        if isinstance(value, (list, tuple)) and depth < 3:
            for item in value:
                self.note(item, place, depth + 1)
        elif isinstance(value, dict) and depth < 3:
            self.note(list(value.values()), place, depth + 1)
        elif isinstance(value, self.torch.Tensor):
            with suppress(RuntimeError):  # a view that PyTorch lets nobody use any more
                self._node(value, place)

    def _node(self, tensor: Any, place: list[Any] | None) -> None:
        with self.torch._C.DisableTorchFunction():
            root = tensor.grad_fn
            if root is None:
                return
            if (id(root), tensor.output_nr) not in self.values:
                self.values[id(root), tensor.output_nr] = tensor.detach().clone()
            pending = [root]
            while pending:
                node = pending.pop()
                if node is None or id(node) in self.places or hasattr(node, "variable"):
                    continue
                self.kept.append(node)
                own = isinstance(node, self.torch.autograd.function.BackwardCFunction)
                self.places[id(node)] = None if own else place  # nobody hears Function.apply
                pending.extend(child for child, _ in node.next_functions)

    # ---- passes

    def around(self, function: Any, returns: bool) -> Any:
        """torch.autograd.grad or .backward, watched."""

        def call(*arguments: Any, **named: Any) -> Any:
            if self.depth:
                return function(*arguments, **named)
            self.depth += 1
            try:
                return self._watched(function, returns, arguments, named)
            finally:
                self.depth -= 1

        return call

    def _watched(self, function: Any, returns: bool, arguments: Any, named: Any) -> Any:
        place = self.place()
        roots = arguments[0] if arguments else named.get("outputs", named.get("tensors"))
        roots = (roots,) if isinstance(roots, self.torch.Tensor) else tuple(roots)
        with self.torch._C.DisableTorchFunction():
            story = Story(self, roots, place)
            self.passes.append(story.told)
            try:
                result = function(*arguments, **named)
            finally:
                story.over()
            if returns:
                inputs = arguments[1] if len(arguments) > 1 else named["inputs"]
                story.given(inputs, result)
        self.note(result, None)  # where a derivative's nodes were made is nobody's to say
        return result

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Within it the two functions that start passes are watched."""
        autograd = self.torch.autograd
        before = autograd.grad, autograd.backward
        autograd.grad = self.around(autograd.grad, True)
        autograd.backward = self.around(autograd.backward, False)
        try:
            yield
        finally:
            autograd.grad, autograd.backward = before


class Story:
    """One pass: the graph under its roots, and what flows in it."""

    def __init__(self, recorder: Recorder, roots: tuple[Any, ...], place: list[Any] | None) -> None:
        self.recorder = recorder
        self.numbers: dict[int, int] = {}
        self.nodes: list[Any] = []
        starts = [self._start(root) for root in roots]
        self.told: dict[str, Any] = {"place": place, "roots": starts, "nodes": []}
        self._walk()
        self.handles = [
            node.register_prehook(self._hook(number)) for number, node in enumerate(self.nodes)
        ]

    def _start(self, root: Any) -> list[int]:
        node = root.grad_fn
        if node is None:
            node = root.view_as(root).grad_fn.next_functions[0][0]
        return [self._number(node), root.output_nr]

    def _number(self, node: Any) -> int:
        if id(node) not in self.numbers:
            self.numbers[id(node)] = len(self.nodes)
            self.nodes.append(node)
        return self.numbers[id(node)]

    def _walk(self) -> None:
        at = 0
        while at < len(self.nodes):
            node = self.nodes[at]
            edges = [
                None if child is None else [self._number(child), output_nr]
                for child, output_nr in node.next_functions
            ]
            fact: dict[str, Any] = {
                "name": node.name().rpartition("::")[2], "next": edges, "flows": {}, "values": {},
                "place": self.recorder.places.get(id(node)),
            }  # fmt: skip
            if hasattr(node, "variable"):
                fact["values"]["0"] = numbers(node.variable)
            for output_nr in range(12):
                value = self.recorder.values.get((id(node), output_nr))
                if value is not None:
                    fact["values"][str(output_nr)] = numbers(value)
            self.told["nodes"].append(fact)
            at += 1

    def _hook(self, number: int) -> Any:
        def hear(grads: tuple[Any, ...]) -> None:
            flows = self.told["nodes"][number]["flows"]
            for output_nr, grad in enumerate(grads):
                if grad is not None:
                    flows[str(output_nr)] = numbers(grad)

        return hear

    def over(self) -> None:
        for handle in self.handles:
            handle.remove()

    def given(self, inputs: Any, result: Any) -> None:
        """What autograd.grad gave for its inputs flowed there."""
        inputs = (inputs,) if isinstance(inputs, self.recorder.torch.Tensor) else tuple(inputs)
        result = result if isinstance(result, tuple) else (result,)
        for tensor, grad in zip(inputs, result, strict=False):
            if grad is None:
                continue
            node = tensor.grad_fn
            if node is None:
                node = next((n for n in self.nodes if getattr(n, "variable", None) is tensor), None)
            if node is not None and id(node) in self.numbers:
                flows = self.told["nodes"][self.numbers[id(node)]]["flows"]
                flows.setdefault(str(tensor.output_nr), numbers(grad))


def numbers(tensor: Any) -> Any:
    """Nested lists of numbers, as JSON has them; the shape alone of a large one."""
    if tensor.numel() > LARGEST or tensor.is_complex():
        return {"shape": list(tensor.shape)}
    return _plain(tensor.detach().to("cpu").tolist())


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value


@question
def passes(torch: Any, text: str) -> dict[str, Any]:
    """The first and the last pass of a program, how many there are, and how it ended."""
    from torch.overrides import TorchFunctionMode

    recorder = Recorder(torch)

    class Hearing(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            place = recorder.place()
            result = func(*args, **(kwargs or {}))
            if not recorder.depth:
                recorder.note(args[0] if result is None and args else result, place)
            return result

    error = None
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), recorder.listening(), Hearing():
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, FILE, "exec"), _scope(torch))
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"
    torch.set_grad_enabled(True)
    told = recorder.passes
    return {
        "count": len(told), "error": error,
        "first": told[0] if told else None, "last": told[-1] if len(told) > 1 else None,
    }  # fmt: skip


def _scope(torch: Any) -> dict[str, Any]:
    """The names that a program has without an import."""
    scope: dict[str, Any] = {"__name__": "__main__", "torch": torch}
    exec("from torch import *\nfrom torch import nn, optim\n"
         "import torch.nn.functional as F\nimport math\nimport numpy as np", scope)  # fmt: skip
    scope.update({name: getattr(builtins, name) for name in PYTHONS})
    return scope
