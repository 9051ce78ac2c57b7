"""Func: carriers: tensors that take part in a transformation, and how operators meet them.

A carrier is a tensor of a subclass: `Dual` comes with a tangent, `Batched` stands for one sample of
many. The engine's fast lanes ask for tensors of exactly the class Tensor, so a carrier falls
through to the end of the slow way, where `call` waits. Nothing is asked of ordinary tensors before
that.

Every open transformation has a level, counted from 1 (0 is torch.autograd.forward_ad's). Carriers
contain tensors of lower levels; an operator is run by the highest level among its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..engine.assembly import run_of_row
from ..engine.dunders import install
from ..engine.schema.carriers import RUNTIME, TRANSFORMS
from ..engine.schema.mode import state
from ..engine.schema.operator import Composite, Factory, Row
from ..engine.schema.row import Inplace
from ..engine.tensors.factories import manufacture as ordinary
from ..engine.tensors.stand_ins import call
from ..engine.tensors.tensor import Tensor
from ..operators import catalogue

NUMBERS = (float, int, bool, complex)


class Carrier(Tensor):
    """Base of the tensors that a transformation carries; see Dual and Batched."""

    __slots__ = ()

    precedence = 1  # a transformation sees what it carries, whatever that is beneath
    run_overload: Callable[..., Any]

    @property
    def level(self) -> int:
        raise AssertionError("every kind of carrier knows its level")

    @property
    def below(self) -> Any:
        """What it carries: an ordinary tensor, or a carrier of another level."""
        raise AssertionError("every kind of carrier carries something")

    def bare(self) -> Tensor:
        """An ordinary tensor with the numbers of all samples, which lie in front."""
        raise AssertionError("every kind of carrier has numbers")

    def stand_in(self) -> Tensor:
        """An ordinary tensor of the same shape and type, for code that needs no more than that."""
        raise AssertionError("every kind of carrier has a stand-in")

    def __repr__(self) -> str:
        return CONDUCT[type(self)].text(self)

    __str__ = __repr__


class Conduct(NamedTuple):
    """What the carriers of a class do.

    `operate(overload, values, level)` runs a row or the in-place twin of one, with carriers of that
    level among the values; `manufacture(factory, values, level)` a creation function that takes
    after a carrier; `text(carrier)` is how one prints.
    """

    operate: Callable[[Any, Sequence[Any], int], Any]
    manufacture: Callable[[Factory, Sequence[Any], int], Any]
    text: Callable[[Any], str]


# All of it is made of carriers itself, of lower levels: `transformation` puts it here.
CONDUCT: dict[type[Carrier], Conduct] = {}


def carriers_in(values: Sequence[Any]) -> Iterator[Carrier]:
    for value in values:
        if isinstance(value, Carrier):
            yield value
        elif value.__class__ is list or value.__class__ is tuple:
            for item in value:
                if isinstance(item, Carrier):
                    yield item


def highest(values: Sequence[Any]) -> Carrier | None:
    """The carrier of the highest level among arguments."""
    found: Carrier | None = None
    for carrier in carriers_in(values):
        if found is None or carrier.level > found.level:
            found = carrier
    return found


_BOOLEAN = {
    "allclose": (
        "vmap over torch.allclose isn't supported yet. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues if you need this feature."
    ),
    "equal": ("Batching rule not implemented for aten::equal. We could not generate a fallback."),
}


def standing(value: Any) -> Any:
    """A value with ordinary tensors of the same shape and type in place of carriers."""
    if isinstance(value, Carrier):
        return value.stand_in()
    return [standing(item) for item in value] if value.__class__ is list else value


SLOTS = (
    "_data", "_kind", "_requires_grad", "_grad_fn", "_output_nr", "_storage", "_meta", "_form"
)  # fmt: skip


def fill(tensor: Tensor, like: Tensor) -> None:
    """Gives a tensor all that another one is made of."""
    for name in SLOTS:
        setattr(tensor, name, getattr(like, name))


def same(tensor: Tensor) -> Tensor:
    """Another object of a tensor, which is about to become another carrier for its holders."""
    if tensor.__class__ is Tensor:
        tensor._need_array()
        tensor._need_storage()
    out: Tensor = object.__new__(tensor.__class__)
    fill(out, tensor)
    if tensor.__class__ is Tensor:
        out._form = None
    return out


def run(overload: Any, values: Sequence[Any]) -> Any:
    """Runs an overload whose arguments are bound, through the innermost carrier."""
    if TRANSFORMS.change is not None:
        _note_change(overload, values)
    top = highest(values)
    if top is None:
        return straight(overload)(*values)
    if isinstance(overload, Composite):
        if overload.name in _BOOLEAN and hasattr(top._data, "level"):
            raise RuntimeError(_BOOLEAN[overload.name])
        return overload.body(*values)
    if isinstance(overload, Factory):
        return CONDUCT[type(top)].manufacture(overload, values, top.level)
    return CONDUCT[type(top)].operate(overload, values, top.level)


def _note_change(overload: Any, values: Sequence[Any]) -> None:
    if isinstance(overload, Inplace):
        assert TRANSFORMS.change is not None
        TRANSFORMS.change(overload.full_name, values[0])


def straight(overload: Any) -> Callable[..., Any]:
    """The function of an overload for ordinary tensors."""
    function = overload.run
    return getattr(function, "straight", function)


# ---- from here on declarations meet carriers


class _Guarded:
    """The function of a row while transformations may be open: looks for carriers first."""

    __slots__ = ("overload", "found")

    def __init__(self, overload: Any) -> None:
        self.overload = overload
        self.found: Callable[..., Any] | None = None

    @property
    def straight(self) -> Callable[..., Any]:
        if self.found is None:
            if isinstance(self.overload, Row):
                self.found = run_of_row(self.overload)
            else:
                inplace = Inplace(self.overload.row)
                self.found = inplace.run
        return self.found

    def __call__(self, *values: Any) -> Any:
        if TRANSFORMS.change is not None:
            _note_change(self.overload, values)
        if TRANSFORMS.levels and (top := highest(values)) is not None:
            return CONDUCT[type(top)].operate(self.overload, values, top.level)
        return (self.found or self.straight)(*values)


def _guard(row: Any) -> None:
    if isinstance(row, Row | Inplace):
        guarded = _Guarded(row)
        guarded.found = row.__dict__.get("run")
        row.__dict__["run"] = guarded


def manufacture(factory: Factory, values: Sequence[Any]) -> Any:
    """A creation function while a transformation is open."""
    top = highest(values)
    if top is not None:
        return CONDUCT[type(top)].manufacture(factory, values, top.level)
    for made in makers:
        answer = made(factory, values)
        if answer is not NotImplemented:
            return answer
    return ordinary(factory, values)


makers: list[Callable[[Factory, Sequence[Any]], Any]] = []  # vmap has a say in random numbers


# ---- Python's operators


def _binary(name: str, key: str, extra: tuple[Any, ...] = ()) -> None:
    table = catalogue.rows

    def forward(self: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            return run(table[f"{key}.Tensor"], (self, other, *extra))
        if other.__class__ not in NUMBERS:
            return catalogue.methods[key](self, other) if _number(other) else NotImplemented
        overload = f"{key}.Scalar" if state.formula else f"{key}.Tensor"
        return run(table[overload], (self, other, *extra))

    def backward(self: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            return run(table[f"{key}.Tensor"], (other, self, *extra))
        if other.__class__ not in NUMBERS:
            return catalogue.functions[key](other, self) if _number(other) else NotImplemented
        if key == "sub":
            if state.formula:
                return run(table["rsub.Scalar"], (self, other, 1))
            return catalogue.functions["rsub"](self, other)
        if key == "div":
            return catalogue.methods["reciprocal"](self) * other
        return forward(self, other)

    setattr(Carrier, f"__{name}__", forward)
    setattr(Carrier, f"__r{name}__", backward)


def _number(value: Any) -> bool:
    return value.__class__.__module__ == "numpy" and hasattr(value, "item")


def _of_function(name: str, key: str, swapped: bool = False) -> None:
    def forward(self: Any, other: Any) -> Any:
        if not isinstance(other, Tensor) and other.__class__ not in NUMBERS:
            return NotImplemented
        return catalogue.functions[key](self, other)

    def backward(self: Any, other: Any) -> Any:
        if not isinstance(other, Tensor) and other.__class__ not in NUMBERS:
            return NotImplemented
        return catalogue.functions[key](other, self)

    setattr(Carrier, f"__{name}__", forward)
    if swapped:
        setattr(Carrier, f"__r{name}__", backward)


def _powers() -> None:
    rows = catalogue.rows

    def forward(self: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            return run(rows["pow.Tensor_Tensor"], (self, other))
        return (
            run(rows["pow.Tensor_Scalar"], (self, other)) if _is_number(other) else NotImplemented
        )

    def backward(self: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            return run(rows["pow.Tensor_Tensor"], (other, self))
        return run(rows["pow.Scalar"], (other, self)) if _is_number(other) else NotImplemented

    setattr(Carrier, "__pow__", forward)  # noqa: B010 - mypy has no such operator on the class
    setattr(Carrier, "__rpow__", backward)  # noqa: B010


def _is_number(value: Any) -> bool:
    return value.__class__ in NUMBERS or _number(value)


def _operators() -> None:
    for name, key, extra in (
        ("add", "add", (1,)), ("sub", "sub", (1,)), ("mul", "mul", ()), ("truediv", "div", ()),
    ):  # fmt: skip
        _binary(name, key, extra)
    _powers()
    for name, key in (
        ("floordiv", "floor_divide"), ("mod", "remainder"), ("and", "bitwise_and"),
        ("or", "bitwise_or"), ("xor", "bitwise_xor"), ("lshift", "bitwise_left_shift"),
        ("rshift", "bitwise_right_shift"), ("matmul", "matmul"),
    ):  # fmt: skip
        _of_function(name, key, swapped=True)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        _of_function(name, name)
    rows = catalogue.rows
    setattr(Carrier, "__neg__", lambda self: run(rows["neg"], (self,)))  # noqa: B010
    for name, key in (
        ("add", "add_"), ("sub", "sub_"), ("mul", "mul_"), ("truediv", "div_"), ("pow", "pow_"),
        ("floordiv", "floor_divide_"), ("mod", "remainder_"), ("and", "bitwise_and_"),
        ("or", "bitwise_or_"), ("xor", "bitwise_xor_"),
    ):  # fmt: skip
        twin = catalogue.methods[key]
        setattr(Carrier, f"__i{name}__", lambda self, other, twin=twin: twin(self, other))
    setattr(Carrier, "__hash__", object.__hash__)  # noqa: B010


install()
_operators()
catalogue.rows.each(_guard)
for _known in (catalogue.functions, catalogue.methods):
    for _name, _function in dict.items(_known):
        if _name.endswith("_"):  # the lanes that calls noted lead past the guards
            _function.settle()
RUNTIME.call = call
Carrier.run_overload = staticmethod(run)
RUNTIME.factory = manufacture
