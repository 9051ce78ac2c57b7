"""Engine: the vocabulary of a declaration, and the catalogue that declarations make.

Nothing here imports an array library: a row is data, and the functions that run are specialised
from it at first use (`call`, `formula`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from .mode import state
from .signature import REQUIRED, Parameter, Signature, misfit

Function_ = Callable[..., Any]


class Formula:
    """A derivative: the inputs it serves, the lambda, and the names that the lambda asks for."""

    __slots__ = ("inputs", "function", "needs", "joint")

    def __init__(self, inputs: tuple[str, ...], function: Function_, joint: bool) -> None:
        self.inputs, self.function, self.joint = inputs, function, joint
        code = function.__code__
        self.needs: tuple[str, ...] = code.co_varnames[: code.co_argcount]


class Row:
    """One overload of an operator, as declared. Everything else is derived from it."""

    def __init__(self, signature: str, node: str, forward: Function_, **options: Any) -> None:
        self.signature = Signature(signature, options["numbers"])
        self.name = self.signature.name
        self.node = node
        self.forward = forward
        self.formulas: tuple[Formula, ...] = options["formulas"]
        self.dtype: Any = options["dtype"]
        self.view: bool | str = options["view"]
        self.inplace: str | None = options["inplace"]
        self.inplace_node: str = options["inplace_node"] or node
        self.check: Function_ | None = options["check"]
        self.check_mixed: Function_ | None = options["check_mixed"]
        self.refuse: Mapping[str, Any] = options["refuse"]
        self.cost: Function_ | None = options["cost"]
        self.exact: bool = options["exact"]  # the in-place twin takes a result of its own shape only
        self.symbol: str = options["symbol"]  # how Python writes it: x + y
        self.outputs_named: str | None = options["outputs_named"]
        self.undifferentiable = frozenset(options["undifferentiable"])
        self.doc: str = options["doc"]
        self.samples: tuple[str, ...] = options["samples"]
        self.errors: tuple[str, ...] = options["errors"]
        self.where: str = options["where"]
        self.aliases: tuple[str, ...] = options["aliases"]
        self.broadcasts = self.dtype in ("promote", "promote_float", "compare", "scalar")
        self._run: Function_ | None = None
        self._backward: Function_ | None = None

    # What follows is worked out when somebody needs it: most rows of the catalogue are never called.

    @cached_property
    def tensors(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.signature.parameters if p.is_tensor)

    @cached_property
    def scalar(self) -> str | None:
        """Policy "scalar": one tensor and one number; the number counts as it does in x + 1."""
        return next((p.name for p in self.signature.parameters if p.kind == "Scalar"), None)

    @cached_property
    def output_count(self) -> int:
        return len(self.signature.outputs)

    @cached_property
    def differentiable(self) -> frozenset[str]:
        """The arguments that a derivative was declared for."""
        names = frozenset(name for formula in self.formulas for name in formula.inputs)
        if unknown := names - set(self.signature.names):
            raise ValueError(f"{self!r}: derivative for {sorted(unknown)}, which is no argument")
        return names

    @cached_property
    def saved_keys(self) -> tuple[str, ...]:
        """What a node keeps: whatever the formulas ask for."""
        asked = {n for f in self.formulas for n in f.needs} - {"grad", "grads", "needs"}
        return tuple(sorted(asked))

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

    def __repr__(self) -> str:
        return f"<operator {self.signature.text}>"

    @property
    def run(self) -> Function_:
        """The straight-line function of this overload, all arguments given in order."""
        if self._run is None:
            from .call import specialise

            self._run = specialise(self)
        return self._run

    @property
    def backward(self) -> Function_:
        """(node, grad) -> gradients of the inputs, on arrays."""
        if self._backward is None:
            from .formula import specialise

            self._backward = specialise(self)
        return self._backward

    def __call__(self, *args: Any) -> Any:
        """Inside formulas, all arguments given: arrays go to the kernel, tensors are recorded."""
        if args[0].__class__ in ARRAYS:
            return self.forward(ARRAYS[args[0].__class__], *args)
        for value in args:
            kind = value.__class__
            if kind is CARRIERS.tensor:
                return self.run(*args)
            xp = CARRIERS.arrays.get(kind)
            if xp is not None:
                return self.forward(xp, *args)
            if kind is list and value:
                first = value[0].__class__
                if first in CARRIERS.arrays:
                    return self.forward(CARRIERS.arrays[first], *args)
            elif (operate := getattr(kind, "__operate__", None)) is not None:
                return operate(self, args)  # symbols
        return self.run(*args)


class _Carriers:
    """What a formula may run on. The engine's tensor module fills this in: naming the classes here
    would load an array library wherever only names are wanted."""

    __slots__ = ("tensor", "arrays", "double")

    def __init__(self) -> None:
        self.tensor: Any = None
        self.arrays: dict[type, Any] = {}
        self.double: Any = "float64"


CARRIERS = _Carriers()
ARRAYS = CARRIERS.arrays
_INVISIBLE = ("_dtype", "_strides", "_kind", "_shape", "_start")


class Composite:
    """An operator made of others: its body is called with tensors, its parts make the nodes."""

    def __init__(self, signature: str, body: Function_, **options: Any) -> None:
        self.signature = Signature(signature, options["numbers"])
        self.name = self.signature.name
        self.body = body
        self.doc: str = options["doc"]
        self.samples: tuple[str, ...] = options["samples"]
        self.errors: tuple[str, ...] = options["errors"]
        self.where: str = options["where"]
        self.aliases: tuple[str, ...] = options["aliases"]

    inplace = None

    def __repr__(self) -> str:
        return f"<operator {self.signature.text}>"

    @property
    def run(self) -> Function_:
        return self.body

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        missing = self.signature.parameters[len(args) :]
        return self.body(*args, *(kwargs.get(p.name, p.default) for p in missing))


_FACTORY_ARGUMENTS = (  # accepted by every creation function, without effect
    "any out=None", "Layout? layout=None", "bool? pin_memory=False", "any memory_format=None",
)  # fmt: skip


class Factory:
    """An operator that makes a tensor out of numbers, on a device, of a type."""

    def __init__(self, signature: str, forward: Function_, **options: Any) -> None:
        self.signature = Signature(signature, (), _FACTORY_ARGUMENTS)
        self.name = self.signature.name
        self.forward = forward
        self.dtype: Any = options["dtype"]
        self.cost: Function_ | None = options["cost"]
        self.doc: str = options["doc"]
        self.samples: tuple[str, ...] = options["samples"]
        self.errors: tuple[str, ...] = options["errors"]
        self.where: str = options["where"]
        self.aliases: tuple[str, ...] = options["aliases"]

    inplace = None

    @property
    def given(self) -> int:
        """How many parameters the declaration itself names."""
        return self.signature.declared

    def run(self, *values: Any) -> Any:
        from .construct import manufacture

        return manufacture(self, values)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        missing = self.signature.parameters[len(args) :]
        return self.run(*args, *(kwargs.get(p.name, p.default) for p in missing))


class Function:
    """A name that programs call: one or several overloads, tried in the order of declaration."""

    __slots__ = ("name", "overloads", "method", "one", "two")

    def __init__(self, name: str, method: bool) -> None:
        self.name, self.method = name, method
        self.overloads: list[Any] = []
        self.one: Function_ | None = None  # straight to the overload for (Tensor)
        self.two: Function_ | None = None  # ... and for (Tensor, Tensor)

    @property
    def __name__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        kind = "method" if self.method else "built-in method"
        return f"<{kind} {self.name} of type object>"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return "\n".join(f"{o.signature.text}\n    {o.doc}" for o in self.overloads)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            if len(args) == 1:
                if self.one is not None and args[0].__class__ is CARRIERS.tensor:
                    return self.one(args[0])
            elif len(args) == 2 and self.two is not None:
                first, second = args
                if first.__class__ is CARRIERS.tensor and second.__class__ is CARRIERS.tensor:
                    return self.two(first, second)
        elif "out" in kwargs:
            kwargs = without_out(self.name, kwargs)
        for overload in self.overloads:
            values = overload.signature.bind(args, kwargs)
            if values is not None:
                return overload.run(*values)
        raise misfit(self.name, [o.signature for o in self.overloads], args, kwargs, self.method)

    def settle(self) -> None:
        """Forgets the lanes: they are found when the first call comes."""
        self.one, self.two = self._find_one, self._find_two

    def _find_one(self, a: Any) -> Any:
        self.one = self._lane(1)
        return self(a) if self.one is None else self.one(a)

    def _find_two(self, a: Any, b: Any) -> Any:
        self.two = self._lane(2)
        return self(a, b) if self.two is None else self.two(a, b)

    def _lane(self, count: int) -> Function_ | None:
        for overload in self.overloads:
            parameters = overload.signature.parameters
            head, tail = parameters[:count], parameters[count:]
            fits = len(head) == count and all(p.kind == "Tensor" and not p.keyword_only for p in head)
            if fits and all(p.default is not REQUIRED for p in tail):
                return self._first_call(count, overload, tuple(p.default for p in tail))
            if len(head) == count and any(not p.is_tensor for p in head):
                return None  # an earlier overload may take a 0-dim tensor for a number
        return None

    def _first_call(self, count: int, overload: Any, defaults: tuple[Any, ...]) -> Function_:
        """The overload's function is written when somebody calls it, and put in place of this."""

        def first(*args: Any) -> Any:
            run = overload.run
            lane = _with_defaults(run, count, defaults)
            if count == 1:
                self.one = lane
            else:
                self.two = lane
            return lane(*args)

        return first

    def as_function(self) -> Function_:
        """A plain function that does the same: Python calls those fastest, and binds them as methods."""

        tensor = CARRIERS.tensor

        def call(*args: Any, **kwargs: Any) -> Any:
            if not kwargs:
                if len(args) == 1:
                    if args[0].__class__ is tensor and self.one is not None:
                        return self.one(args[0])
                elif len(args) == 2 and self.two is not None:
                    if args[0].__class__ is tensor and args[1].__class__ is tensor:
                        return self.two(*args)
            return self(*args, **kwargs)

        call.__name__ = call.__qualname__ = self.name
        return call


def _with_defaults(run: Function_, count: int, defaults: tuple[Any, ...]) -> Function_:
    if not defaults:
        return run
    if count == 1 and len(defaults) == 1:
        (only,) = defaults
        return lambda a: run(a, only)
    return lambda *args: run(*args, *defaults)


def without_out(name: str, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """`out=None` means nothing; a tensor is refused, since it would hide what was computed from what."""
    if kwargs["out"] is not None:
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    return {key: value for key, value in kwargs.items() if key != "out"}


class Catalogue:
    """All declarations: by the names that programs write, and by the schema names of rows."""

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}
        self.methods: dict[str, Function] = {}
        self.properties: dict[str, Function] = {}
        self.rows: dict[str, Any] = {}

    def add(self, overload: Any) -> None:
        signature = overload.signature
        key = signature.name + ("." + signature.overload if signature.overload else "")
        if key in self.rows:
            raise ValueError(f"{key} is declared twice")
        self.rows[key] = overload
        for name in (signature.name, *overload.aliases):
            for face in overload.where.split():
                self._put(face, name, overload)
        if overload.inplace:
            twin = Inplace(overload)
            self.rows[overload.inplace + ("." + signature.overload if signature.overload else "")] = twin
            faces = overload.where.split()
            if "method" in faces or "inplace" in faces:
                self._put("method", overload.inplace, twin)
            if "torch" in faces:
                self._put("torch", overload.inplace, twin)

    def _put(self, face: str, name: str, overload: Any) -> None:
        if face in ("hidden", "inplace"):  # "inplace": only the twin has a name
            return
        if face == "method":
            function = self.methods.setdefault(name, Function(name, True))
        elif face == "property":
            function = self.properties.setdefault(name, Function(name, True))
        else:
            path = {"torch": "", "functional": "nn.functional."}.get(face, face + ".") + name
            function = self.functions.setdefault(path, Function(name, False))
        function.overloads.append(overload)
        function.settle()

    def row(self, key: str) -> Any:
        return self.rows[key]


class Inplace:
    """The in-place twin of a row: same arguments, the result written into self."""

    inplace = None

    def __init__(self, row: Row) -> None:
        self.row = row
        self.signature = row.signature
        self.name = row.inplace
        self.doc, self.samples, self.errors = f"In-place form of {row.name}. {row.doc}", (), ()
        self.where, self.aliases = row.where, ()
        self._run: Function_ | None = None

    @property
    def run(self) -> Function_:
        if self._run is None:
            if self.row.view:
                from .views import view_inplace

                self._run = view_inplace(self.row)
            else:
                from .inplace import specialise

                self._run = specialise(self.row)
        return self._run

    def __call__(self, *args: Any) -> Any:
        return self.run(*args)


catalogue = Catalogue()


def operator(
    signature: str,
    *,
    forward: Function_,
    node: str = "",
    dtype: Any = "same",
    inplace: str | None = None,
    inplace_node: str | None = None,
    numbers: str = "",
    view: bool | str = False,
    joint: Mapping[tuple[str, ...], Function_] | None = None,
    check: Function_ | None = None,
    check_mixed: Function_ | None = None,
    refuse: Mapping[str, Any] | None = None,
    cost: Function_ | None = None,
    symbol: str = "",
    exact: bool = False,
    outputs_named: str | None = None,
    undifferentiable: str = "",
    where: str = "torch method",
    aliases: Sequence[str] = (),
    doc: str = "",
    samples: Sequence[str] = (),
    errors: Sequence[str] = (),
    **derivatives: Function_,
) -> Row:
    """Declares one overload; docs/architecture.md explains each word."""
    formulas = [Formula((name,), function, False) for name, function in derivatives.items()]
    formulas += [Formula(names, function, True) for names, function in (joint or {}).items()]
    if len(formulas) > 1:
        # PyTorch's generated code runs them in the alphabetical order of the arguments' names, and
        # with create_graph that order shows in the sequence numbers of the nodes they make.
        formulas.sort(key=lambda formula: ", ".join(formula.inputs))
    row = Row(
        signature, node, forward, formulas=tuple(formulas), dtype=dtype, inplace=inplace,
        inplace_node=inplace_node, view=view, check=check, check_mixed=check_mixed, refuse=refuse or {}, cost=cost, symbol=symbol, exact=exact,
        outputs_named=outputs_named, where=where, aliases=tuple(aliases), doc=doc,
        samples=tuple(samples), errors=tuple(errors),
        undifferentiable=[n.strip() for n in undifferentiable.split(",") if n.strip()],
        numbers=[name.strip() for name in numbers.split(",") if name.strip()],
    )  # fmt: skip
    catalogue.add(row)
    return row


def composite(
    signature: str,
    body: Function_,
    *,
    numbers: str = "",
    where: str = "torch method",
    aliases: Sequence[str] = (),
    doc: str = "",
    samples: Sequence[str] = (),
    errors: Sequence[str] = (),
) -> Composite:
    """Declares an operator that PyTorch itself composes of others."""
    row = Composite(
        signature, body, where=where, aliases=tuple(aliases), doc=doc, samples=tuple(samples),
        errors=tuple(errors), numbers=[n.strip() for n in numbers.split(",") if n.strip()],
    )  # fmt: skip
    catalogue.add(row)
    return row


def factory(
    signature: str,
    forward: Function_,
    *,
    dtype: Any = "default",
    cost: Function_ | None = None,
    where: str = "torch",
    aliases: Sequence[str] = (),
    doc: str = "",
    samples: Sequence[str] = (),
    errors: Sequence[str] = (),
) -> Factory:
    """Declares a creation function. `dtype` says what an absent dtype argument means: "default",
    "like" (that of the first tensor argument), a DType's name, or a function of the arguments."""
    row = Factory(
        signature, forward, dtype=dtype, cost=cost, where=where, aliases=tuple(aliases), doc=doc,
        samples=tuple(samples), errors=tuple(errors),
    )  # fmt: skip
    catalogue.add(row)
    return row


SMALL = 32  # elements: what people print and read number by number


def precise(function: Function_, *arrays: Any) -> Any:
    """A float32 transcendental of a small tensor, computed in double and rounded once.

    NumPy's and PyTorch's single-precision kernels differ in the last bits of one value in five;
    rounding once from double agrees with PyTorch in 99 of 100, and nearly always when printed. It
    costs 1 microsecond, which larger arrays are spared.
    """
    first = arrays[0]
    if first.size > SMALL:
        return function(*arrays)
    if first.dtype.char == "f":
        kind = first.dtype.type
        if first.__class__ is kind:  # one scalar: the C library's function, where it has one
            of_float = getattr(math, _MATH.get(function.__name__, function.__name__), None)
            if of_float is not None:
                try:
                    return kind(of_float(*arrays))
                except (ValueError, OverflowError):
                    pass  # outside its domain: the array library knows which infinity or NaN it is
        return function(*arrays, dtype=CARRIERS.double).astype(kind)
    if first.dtype.char == "e":
        return function(*arrays, dtype=CARRIERS.double).astype(first.dtype)
    return function(*arrays)


def transcendental(name: str) -> Function_:
    """The forward of a row that is one function of the array library, as `precise` computes it."""

    def forward(xp: Any, self: Any) -> Any:
        function = getattr(xp, name)
        return function(self) if self.size > SMALL else precise(function, self)

    forward.ufunc = name  # type: ignore[attr-defined]  # calls of larger arrays go there directly
    return forward


_MATH = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
         "arctanh": "atanh", "arctan2": "atan2", "power": "no such"}  # fmt: skip


def warn(message: str) -> None:
    """A warning in PyTorch's words, from a declaration."""
    state.warn(message)
