"""Questions: one call of PyTorch, so that the numeric check can make it again and again.

To the check it is a Function of the own engine: its forward makes the call with PyTorch's tensors,
its backward asks PyTorch for the gradients. So what differentiates is PyTorch alone.
"""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy

from ....autograd.function import Function
from ....engine.tensors.tensor import Tensor
from ....live.values import own_tensor
from ....named import NamedTuple
from ....recording.sides import row_of, sides

# What makes a tensor less precise, whatever the precision that the check computes with.
CASTS = {"float": "double", "half": "double", "bfloat16": "double",
         "cfloat": "cdouble", "chalf": "cdouble"}  # fmt: skip

PASS = "autograd.grad"


class Out(NamedTuple):
    """Where a tensor of a call is found again: among its results, or among what it was given."""

    is_result: bool
    place: int


class Repeated(Function):
    """A call, as the engine applies it."""

    call: Call


class Call:
    """A call, with what must be the same whenever it is made: its other arguments, its numbers."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        live = sides.live
        assert live is not None
        self.torch: Any = live.torch  # type: ignore[attr-defined]
        self.tree = self.torch.utils._pytree
        self.function = function
        self.leaves, self.form = self.tree.tree_flatten((args, kwargs))
        kind = live.tensor
        self.places = [n for n, leaf in enumerate(self.leaves) if isinstance(leaf, kind)]
        self.given = [self.leaves[place] for place in self.places]
        self.dtypes = [one.dtype for one in self.given]
        self.device = self.given[0].device if self.given else None
        generators = [one for one in self.leaves if isinstance(one, self.torch.Generator)]
        self.generators = [self.torch.default_generator, *generators]
        self.marks = [one.get_state() for one in self.generators]
        self.changes = False  # whether it writes to what it is given
        self.outs: list[Out] = []
        self.node: Any = None

    def over(self) -> None:
        """It was made: from here on it needs no tensor of the program."""
        drawn = any(not self.torch.equal(one.get_state(), mark)
                    for one, mark in zip(self.generators, self.marks, strict=True))  # fmt: skip
        self.marks = self.marks if drawn else []
        for place in self.places:
            self.leaves[place] = None

    # ------------------------------------------------------------ what it is called

    @property
    def is_of_program(self) -> bool:
        """Whether its derivative is the program's own."""
        return getattr(self.function, "__name__", "") == "apply" and isinstance(
            getattr(self.function, "__self__", None), type
        )

    @property
    def is_pass(self) -> bool:
        """Whether it differentiates."""
        return getattr(self.function, "__name__", "") == PASS

    @property
    def name(self) -> str:
        """The function, or the class whose derivative it has."""
        if self.is_of_program:
            return str(self.function.__self__.__name__)
        row = None if self.is_pass else row_of(self.node)
        return str(row.name if row is not None else getattr(self.function, "__name__", "a call"))

    @cached_property
    def words(self) -> dict[int, str]:
        """What the function calls its arguments, by their places among the leaves."""
        args, kwargs = self.tree.tree_unflatten(range(len(self.leaves)), self.form)
        found: list[tuple[str, Any]] = list(kwargs.items())
        if self.is_of_program or self.is_pass:
            args = ()
        found += zip(self._names(), args, strict=False)
        return {place: word for word, place in found if isinstance(place, int)}

    def _names(self) -> Sequence[str]:
        try:
            names = list(inspect.signature(self.function).parameters)
        except (TypeError, ValueError):  # written in C++
            names = []
        if names and "args" not in names:
            return names
        row = row_of(self.node)
        return row.signature.names if row is not None else ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its tensors."""
        return tuple(self.words.get(place, "") for place in self.places)

    def argument(self, name: str) -> Any:
        """An argument that is no tensor."""
        return next((self.leaves[n] for n, word in self.words.items() if word == name), None)

    # ------------------------------------------------------------ to make it again

    def made(self, given: list[Any]) -> list[Any]:
        """Its tensors, for these of PyTorch's in the place of those that it was given."""
        wide = all(one.dtype in (self.torch.float64, self.torch.complex128)
                   for one in given if one.is_floating_point() or one.is_complex())  # fmt: skip
        if self.changes:
            given = [one.clone() for one in given]
        leaves = [self._widened(leaf) if wide else leaf for leaf in self.leaves]
        for place, one in zip(self.places, given, strict=True):
            leaves[place] = one
        args, kwargs = self.tree.tree_unflatten(leaves, self.form)
        function = self.function
        if wide and getattr(function, "__name__", "") in CASTS:
            function = getattr(self.torch.Tensor, CASTS[function.__name__])
        with self._as_then(wide):
            result = function(*args, **kwargs)
        results = self.tree.tree_leaves(result)
        return [(results if out.is_result else given)[out.place] for out in self.outs]

    def _widened(self, leaf: Any) -> Any:
        if not isinstance(leaf, self.torch.dtype) or not (
            leaf.is_floating_point or leaf.is_complex
        ):
            return leaf
        return self.torch.complex128 if leaf.is_complex else self.torch.float64

    @contextmanager
    def _as_then(self, wide: bool) -> Iterator[None]:
        """The random numbers are those that it drew; what it prints is not heard again."""
        torch = self.torch
        before, dtype = [one.get_state() for one in self.generators], torch.get_default_dtype()
        try:
            for one, mark in zip(self.generators, self.marks, strict=False):
                one.set_state(mark)
            if wide:
                torch.set_default_dtype(torch.float64)
            with contextlib.redirect_stdout(io.StringIO()):
                yield
        finally:
            torch.set_default_dtype(dtype)
            for one, mark in zip(self.generators, before, strict=True):
                one.set_state(mark)

    def function_class(self) -> type[Repeated]:
        """What the check applies."""
        return type(self.name, (Repeated,), {
            "forward": staticmethod(self._forward), "backward": staticmethod(self._backward),
            "call": self,
        })  # fmt: skip

    def _forward(self, context: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        leaves = [
            self._theirs(tensor, dtype) for tensor, dtype in zip(tensors, self.dtypes, strict=True)
        ]
        for leaf, needed in zip(leaves, context.needs_input_grad, strict=True):
            leaf.requires_grad_(needed)
        with self.torch.set_grad_enabled(any(context.needs_input_grad)):
            outs = self.made(leaves)
        found = tuple(map(own_tensor, outs))
        context.mark_non_differentiable(
            *(one for one, out in zip(found, outs, strict=True) if not out.requires_grad)
        )
        context.leaves, context.outs = leaves, outs
        return found

    def _backward(self, context: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        pairs = [(out, self._theirs(grad, out.dtype).reshape(out.shape))
                 for out, grad in zip(context.outs, grads, strict=True)
                 if out.requires_grad]  # fmt: skip
        wanted = [leaf for leaf in context.leaves if leaf.requires_grad]
        found = iter(self.torch.autograd.grad(
            [out for out, _ in pairs], wanted, [grad for _, grad in pairs],
            retain_graph=True, allow_unused=True,
        ))  # fmt: skip
        gradients = [next(found) if leaf.requires_grad else None for leaf in context.leaves]
        return tuple(None if one is None else own_tensor(one) for one in gradients)

    def _theirs(self, tensor: Tensor, dtype: Any) -> Any:
        """PyTorch's tensor with these values, in the same precision, or in a half one."""
        found = self.torch.from_numpy(numpy.array(tensor._data)).to(self.device)
        halves = self.torch.float16, self.torch.bfloat16
        return found.to(dtype) if dtype in halves and found.dtype != self.torch.float64 else found
