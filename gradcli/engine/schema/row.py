"""Engine: what a declaration becomes: rows, compositions, factory functions, in-place twins.

Nothing here imports an array library: a row is data, and the functions that run are specialised
from it at first use (`call`, `formula`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

from ...named import NamedTuple
from .carriers import ARRAYS, RUNTIME, Body
from .signature import Parameter, Signature

OF = "of:"  # operands meet as for "promote", the result is of the type of the one that is named


SPARSE = "sparse"  # the layout of a row whose operands or results are sparse: see `sparse_call`


class Formula:
    """A derivative: the inputs it serves, the lambda, and the names that the lambda asks for."""

    __slots__ = ("inputs", "function", "needs", "joint")

    def __init__(self, inputs: tuple[str, ...], function: Body, joint: bool) -> None:
        self.inputs, self.function, self.joint = inputs, function, joint
        code = function.__code__
        self.needs: tuple[str, ...] = code.co_varnames[: code.co_argcount]

    def gradients(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What it gives each of its inputs; `values` are arrays, tensors, symbols or duals."""
        answer = self.function(*(values[name] for name in self.needs))
        return dict(zip(self.inputs, answer if self.joint else (answer,), strict=True))


class Reduced(NamedTuple):
    """In which way numbers of reduced precision are not just computed in single precision, and the
    result rounded once."""

    # Rounds in between; it is given the kind, whose `settle` rounds, and with `mixed` theirs.
    forward: Body | None = None
    wide_numbers: bool = False  # a number beside a tensor keeps its single precision
    fused: bool = False  # the gradient is one kernel where no graph of it is made
    wide: str = ""  # outputs that keep single precision
    mixed: str = ""  # the same where a parameter in single precision was given


# How an operator acts on the elements of its operands. "constant": only shape and type count;
# "dynamic": the values say how large the result is.
Acts: TypeAlias = Literal[
    "", "pointwise", "along", "leading", "selects", "moves", "spreads", "product", "random",
    "dynamic", "constant",
]  # fmt: skip
# What it has to do with a loss: it compares prediction and target, makes probabilities of scores,
# or expects scores or logarithms of probabilities.
Role: TypeAlias = Literal["", "compares", "normalises", "of scores", "of logarithms"]
# Where a gradient that came is not passed on. "flat": everywhere; "saturates": far out; "clamps",
# "rectifies": beyond a bound; "leaks": there, unless a slope is set; "mask": where other elements
# are taken; "cancels": where shares add up to 0.
Zero: TypeAlias = Literal[
    "", "flat", "saturates", "clamps", "rectifies", "leaks", "mask", "cancels"
]  # fmt: skip
# The tangent of its result, where that is not the transpose of its backward: see `operator`.
Tangent: TypeAlias = Literal["", "linear", "none"]
_ZERO_OF: Mapping[str, Zero] = {"selects": "mask", "product": "cancels", "spreads": "cancels"}
_ALONG = frozenset(
    {"dim", "dims", "reduction", "axis"}
)  # an operator that names one is not pointwise


class Domain(NamedTuple):
    """Where value and slope are finite, of one operand: `of`, or the first one."""

    low: float | None = None
    high: float | None = None
    nonzero: bool = False
    of: str = ""


_CAST_WORDS = "result type {result} can't be cast to the desired output type {given}"


class Declaration:
    """What every declaration says of itself: its names, its description, its samples."""

    def __init__(self, signature: Signature, options: Mapping[str, Any]) -> None:
        self.signature = signature
        self.name = signature.name
        self.doc: str = options["doc"]
        self.samples: tuple[str, ...] = options["samples"]
        self.errors: tuple[str, ...] = options["errors"]
        self.where: str = options["where"]
        self.aliases: tuple[str, ...] = options["aliases"]
        self.domain: Domain | None = options.get("domain")
        self.smooth: str = options.get("smooth", "")
        self.logarithm: str = options.get("logarithm", "")
        self.role: Role = options.get("role", "")
        self.alone: str = options.get("alone", "")
        # None: as the declaration of the same name says that has one.
        self.computes: str | None = options.get("computes")
        self.corners: tuple[str, ...] | None = options.get("corners")


class Row(Declaration):
    """One overload of an operator, as declared. Everything else is derived from it."""

    # Functions written from the row at first use; `assembly` says by what.
    run: Body  # all arguments given, in order
    on_arrays: Body  # the same where the first argument is an array
    written_backward: Body
    written_step: Body

    def __init__(self, signature: str, node: str, forward: Body, **options: Any) -> None:
        super().__init__(Signature(signature, options["numbers"]), options)
        self.node = node
        # These two are looked up at every node of a pass, so they are none of the class.
        # (node, grad) -> gradients of the inputs, on arrays
        self.backward: Body = self.first_backward
        # (node, grad, ready, frees): the same, each gradient handed to the node that it goes to;
        # what the node saved is freed where a mark for it is given
        self.step: Body = self.first_step
        self.forward = forward
        self.formulas: tuple[Formula, ...] = options["formulas"]
        self.dtype: Any = options["dtype"]
        self.view: bool | str = options["view"]
        self.shares: bool = options["shares"]
        self.inplace: str | None = options["inplace"]
        self.inplace_node: str = options["inplace_node"] or node
        self.check: Body | None = options["check"]
        self.check_mixed: Body | None = options["check_mixed"]
        self.refuse: Mapping[str, Any] = options["refuse"]
        self.cost: Body | None = options["cost"]
        self.exact: bool = options[
            "exact"
        ]  # the in-place twin takes a result of its own shape only
        # Of its in-place twin, where a tensor can't hold the result.
        self.cast_words: str = options["cast_words"] or _CAST_WORDS
        self.holomorphic: bool = options["holomorphic"]
        self.tangent: Tangent = options.get("tangent", "")
        self.layout: str = options["layout"]  # of its results in memory: see layout.LAYOUTS
        self.overlap: str = options["overlap"]  # may its twin write into expanded tensors?
        self.symbol: str = options["symbol"]  # how Python writes it: x + y
        self.outputs_named: str | None = options["outputs_named"]
        self.undifferentiable = frozenset(options["undifferentiable"])
        self.kinded: bool = options["kinded"]
        self.reduced: Reduced = options["reduced"]
        self.jacobian: str = options["jacobian"]
        self._acts: Acts | None = options["acts"]
        self._zero: Zero | None = options["zero"]
        self.broadcasts = self.dtype in (
            "promote", "promote_float", "compare", "scalar", "complex",
        ) or str(self.dtype).startswith(OF)  # fmt: skip

    # What follows is computed at first use: most rows are never called.

    @cached_property
    def tensors(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.signature.parameters if p.is_tensor)

    @cached_property
    def scalar(self) -> str | None:
        """Policy "scalar": one tensor and one number; the number counts as it does in x + 1."""
        return next((p.name for p in self.signature.parameters if p.kind == "Scalar"), None)

    @cached_property
    def iterates(self) -> bool:
        """Does it work element by element? Then its operands say how its result lies in memory."""
        if self.output_count > 1 or self.view or self.layout:
            return False
        alone = len(self.tensors) == 1 and self.inplace is not None
        return (self.broadcasts or alone) and all(p.kind == "Tensor" for p in self.tensors)

    @cached_property
    def acts(self) -> Acts:
        """How it acts on elements: as declared, else as it follows from the rest."""
        if self._acts is not None:
            return self._acts
        if self.view:
            return "moves"
        elements = self.output_count == 1 and all(p.kind == "Tensor" for p in self.tensors)
        if elements and (self.broadcasts or self.iterates) and _ALONG.isdisjoint(
            self.signature.names
        ):  # fmt: skip
            return "pointwise"
        return ""

    @cached_property
    def zero(self) -> Zero:
        """Where a gradient ends: as declared, else as follows from how it acts."""
        return _ZERO_OF.get(self.acts, "") if self._zero is None else self._zero

    @cached_property
    def output_count(self) -> int:
        return len(self.signature.outputs)

    @cached_property
    def listed(self) -> bool:
        """Does it give a list of tensors: views of the first argument, or pieces set apart?"""
        return self.view in ("multi", "apart")

    @cached_property
    def inplace_row(self) -> Row:
        """The same under the node name of its in-place twin: TBackward1 for t_."""
        if self.inplace_node == self.node:
            return self
        from copy import copy

        twin = copy(self)
        twin.node = self.inplace_node
        return twin

    @property
    def copies_view(self) -> bool:
        """Whether it is the copying form of a view: permute_copy of permute."""
        return self.node.endswith("_copy")

    @cached_property
    def differentiable(self) -> frozenset[str]:
        """The arguments that a derivative was declared for."""
        names = frozenset(name for formula in self.formulas for name in formula.inputs)
        if unknown := names - set(self.signature.names):
            raise ValueError(f"{self!r}: derivative for {sorted(unknown)}, which is no argument")
        return names

    @cached_property
    def underivable(self) -> bool:
        """Recorded, although PyTorch has no derivative: the error comes with backward()."""
        return self.node == "torch::autograd::NotImplemented" and not self.formulas

    @cached_property
    def saved_keys(self) -> tuple[str, ...]:
        """What a node keeps: whatever the formulas ask for."""
        asked = {n for f in self.formulas for n in f.needs} - {"grad", "grads", "needs"}
        return tuple(sorted(asked))

    @cached_property
    def unpacked_keys(self) -> tuple[tuple[int, str], ...]:
        """The same with their places, in the order in which a node looks at them: what it was
        given, and then what it made."""
        pairs = enumerate(self.saved_keys)
        return tuple(sorted(pairs, key=lambda pair: pair[1] in self.signature.outputs))

    @cached_property
    def saved_names(self) -> tuple[str, ...]:
        """What of it shows as `_saved_*`."""
        return tuple(
            key
            for key in self.saved_keys
            if key in self.signature.names or "_sym_" in key or not key.endswith(_INVISIBLE)
        )

    @cached_property
    def saves_tensors(self) -> bool:
        tensors = {p.name for p in self.tensors} | set(self.signature.outputs)
        return any(key in tensors for key in self.saved_keys)

    @cached_property
    def saves_output(self) -> bool:
        """Does a node keep its only output?"""
        return self.output_count == 1 and self.signature.outputs[0] in self.saved_keys

    @cached_property
    def keeps(self) -> list[tuple[int, int]]:
        """Where a node keeps each output, and its last size; -1 for nowhere."""
        places = {key: place for place, key in enumerate(self.saved_keys)}
        return [
            (places.get(name, -1), places.get(name + LAST_SIZE, -1))
            for name in self.signature.outputs
        ]

    def served_by(self, key: str) -> str | None:
        """The input whose gradient alone needs a saved tensor: without an edge there it stays
        None. PyTorch asks no more than one edge, and none of lists and of backward functions."""
        lists = any(p.kind == "Tensor[]" for p in self.tensors)
        several = sum(p.name in self.differentiable for p in self.tensors) > 1
        if lists or not several or "backward" in self.name:
            return None
        serving = [formula for formula in self.formulas if key in formula.needs]
        if len(serving) != 1 or len(serving[0].inputs) != 1:
            return None
        return next(iter(serving[0].inputs))

    @cached_property
    def freeing(self) -> tuple[int, ...]:
        """Where a node keeps tensors: it has something to free if there is one in some of these
        places. -1 stands for a tensor that each of its nodes keeps."""
        operands = {p.name for p in self.tensors}
        places = []
        for place, key in enumerate(self.saved_keys):
            if key in self.signature.outputs or (key in operands and self.served_by(key) is None):
                return (-1,)
            if key in operands:
                places.append(place)
        return tuple(places)

    def first_step(self, *given: Any) -> None:
        """Takes the place of `step` until it is written."""
        self.step = self.written_step
        self.step(*given)

    def first_backward(self, *given: Any) -> Any:
        self.backward = self.written_backward
        return self.backward(*given)

    def forget_formulas(self) -> None:
        """The functions of the way back are written again when they are needed next."""
        self.step, self.backward = self.first_step, self.first_backward
        for written in ("written_backward", "written_step"):
            self.__dict__.pop(written, None)

    def frees(self, saved: Any) -> bool:
        """Whether a node that saved this has a tensor to free: else it can run again."""
        for place in self.freeing:  # noqa: SIM110 - at every node: a generator costs ten times that
            if place < 0 or saved[place] is not None:
                return True
        return False

    def __repr__(self) -> str:
        return f"<operator {self.signature.text}>"

    def gradients(self, values: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
        """What its formulas give the inputs that are wanted."""
        results: dict[str, Any] = {}
        for formula in self.formulas:
            if any(wanted.get(name) for name in formula.inputs):
                results |= formula.gradients(values)
        return results

    def __call__(self, *args: Any) -> Any:
        """Inside formulas, all arguments given: arrays go to the kernel, tensors are recorded."""
        if args[0].__class__ in ARRAYS:
            return self.forward(ARRAYS[args[0].__class__], *args)
        for value in args:
            kind = value.__class__
            if kind is RUNTIME.tensor or kind is RUNTIME.sparse:
                if RUNTIME.run_sparse is not None:
                    return RUNTIME.run_sparse(self, args)
                return self.run(*args)
            xp = RUNTIME.arrays.get(kind)
            if xp is not None:
                return self.forward(xp, *args)
            if kind is list and value:
                first = value[0].__class__
                if first in RUNTIME.arrays:
                    return self.forward(RUNTIME.arrays[first], *args)
                kind = first
            if (operate := getattr(kind, "__operate__", None)) is not None:
                return operate(self, args)  # symbols
        return self.run(*args)


LAST_SIZE = "_sym_argsize_minus_1"  # the one fact about an output that a formula may ask for
_INVISIBLE = ("_layout", "_dtype", "_strides", "_kind", "_shape", "_start")


class Composite(Declaration):
    """An operator made of others: its body is called with tensors, its parts make the nodes."""

    def __init__(self, signature: str, body: Body, **options: Any) -> None:
        super().__init__(Signature(signature, options["numbers"]), options)
        self.body = body

    inplace = None

    def __repr__(self) -> str:
        return f"<operator {self.signature.text}>"

    @property
    def run(self) -> Body:
        return self.body

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        missing = self.signature.parameters[len(args) :]
        return self.body(*args, *(kwargs.get(p.name, p.default) for p in missing))


_FACTORY_ARGUMENTS = (  # accepted by every creation function, without effect
    "Tensor? out=None", "Layout? layout=None", "bool? pin_memory=False",
    "MemoryFormat? memory_format=None",
)  # fmt: skip


class Factory(Declaration):
    """An operator that makes a tensor out of numbers, on a device, of a type."""

    run: Body  # all arguments given, in order; see `assembly`

    def __init__(self, signature: str, forward: Body, **options: Any) -> None:
        super().__init__(Signature(signature, (), _FACTORY_ARGUMENTS), options)
        self.forward = forward
        self.dtype: Any = options["dtype"]
        self.kinded: bool = options["kinded"]
        self.cost: Body | None = options["cost"]

    inplace = None

    @property
    def is_like(self) -> bool:
        """Does it take its size from a tensor, and with it how that lies in memory?"""
        return self.name.partition(".")[0].endswith("_like")

    @property
    def given(self) -> int:
        """How many parameters the declaration itself names."""
        return self.signature.declared

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        missing = self.signature.parameters[len(args) :]
        return self.run(*args, *(kwargs.get(p.name, p.default) for p in missing))


class Inplace:
    """The in-place twin of a row: same arguments, the result written into self."""

    run: Body  # all arguments given, in order; see `assembly`
    inplace = None

    def __init__(self, row: Row) -> None:
        self.row = row
        self.signature = row.signature
        self.name = row.inplace
        self.doc, self.samples, self.errors = f"In-place form of {row.name}. {row.doc}", (), ()
        self.where, self.aliases = row.where, ()

    @property
    def full_name(self) -> str:
        """PyTorch's name, with that of the overload: `pow_.Tensor` of `pow.Tensor_Tensor`, and
        `transpose_` of `transpose.int`."""
        overload = self.signature.overload.removeprefix("Tensor_")
        return str(self.name) if overload in ("", "int", "fill") else f"{self.name}.{overload}"

    def __call__(self, *args: Any) -> Any:
        return self.run(*args)
