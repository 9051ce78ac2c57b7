"""Engine: Python's operators on tensors, and methods, taken from the catalogue of declarations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .assembly import assemble
from .compile.call import lanes, python_operator
from .schema import dtypes
from .schema.catalogue import Function, catalogue
from .schema.errors import unbound
from .schema.mode import state
from .schema.numpy_wrappers import WrappedNumber
from .tensors.construct import from_numpy
from .tensors.tensor import Tensor

NUMBERS = (float, int, bool, complex)
COMMON = frozenset({float, int, bool})  # what the lane for numbers takes


def _is_operand(value: Any) -> bool:
    kind = value.__class__
    return (
        kind is Tensor
        or kind in NUMBERS
        or isinstance(value, WrappedNumber)
        or (kind.__module__ == "numpy" and hasattr(value, "item"))
    )


def install() -> None:
    """Puts the catalogue's operators and methods on Tensor; the first face in use calls it."""
    assemble()
    for name, function in catalogue.methods.items():
        if not hasattr(Tensor, name):
            setattr(Tensor, name, function.as_function())
    for name, function in catalogue.properties.items():
        setattr(Tensor, name, property(function.__call__))
    for name in ("add", "sub", "mul"):
        _arithmetic(name, name)
    _later(("truediv", "rtruediv", "rdiv"), lambda: _arithmetic("truediv", "div"))
    _later(("itruediv",), lambda: _augmented("truediv"))
    _later(("pow", "rpow"), _power)
    _later(("getitem", "setitem"), _items)
    for name in ("floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
        _binary(name)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        _comparison(name)
    for name, key in (
        ("neg", "neg"), ("pos", "positive"), ("abs", "abs"),
    ):  # fmt: skip
        _unary(name, key)
    for name, body in (
        ("invert", _inverted),
        ("matmul", _matrix_product),
        ("rmatmul", _reflected_product),
    ):
        setattr(Tensor, f"__{name}__", body)
    for name in "add sub mul pow floordiv mod and or xor lshift rshift".split():
        _augmented(name)


def _later(names: tuple[str, ...], put: Callable[[], None]) -> None:
    """Operators whose declarations are in files that many programs do without: `put` puts them on
    Tensor, when one of them is used."""

    def first(name: str) -> Callable[..., Any]:
        def use(*given: Any, **named: Any) -> Any:
            put()
            return getattr(Tensor, name)(*given, **named)

        return use

    for name in names:
        setattr(Tensor, f"__{name}__", first(f"__{name}__"))


def _items() -> None:
    for name in ("__getitem__", "__setitem__"):
        setattr(Tensor, name, catalogue.rows[name].body)


def _inverted(self: Tensor) -> Any:
    if self.dtype.category > dtypes.INTEGER:
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return catalogue.methods["bitwise_not"](self)


def _unary(name: str, key: str) -> None:
    method = catalogue.methods[key]

    def apply(self: Tensor) -> Any:
        return method(self)

    apply.__qualname__ = f"Tensor.__{name}__"
    setattr(Tensor, f"__{name}__", apply)


def _matrix_product(self: Any, other: Any) -> Any:
    """self @ other; numbers have no matrix product."""
    return catalogue.methods["matmul"](self, other) if other.__class__ is Tensor else NotImplemented


def _reflected_product(self: Any, other: Any) -> Any:
    return catalogue.methods["matmul"](other, self) if other.__class__ is Tensor else NotImplemented


def _arithmetic(name: str, key: str) -> None:
    """+ - * /: two tensors go straight to the row's kernel, written at first use."""
    row = catalogue.rows[f"{key}.Tensor"]
    names = lanes(row)

    def otherwise(self: Any, other: Any) -> Any:
        if other.__class__ is Tensor:
            return row.run(self, other)
        if other.__class__ in NUMBERS:
            overload = catalogue.rows[f"{key}.Scalar"] if state.formula else row
            return overload.run(self, other)
        if not _is_operand(other):
            return NotImplemented
        return row.run(self, other.item() if other.ndim == 0 else from_numpy(other))

    def first(self: Any, other: Any) -> Any:
        constants = {p.name: p.default for p in row.signature.parameters[2:]}
        written = python_operator(row, constants, otherwise)
        setattr(Tensor, f"__{name}__", written)
        return written(self, other)

    def backward(self: Any, other: Any) -> Any:
        if other.__class__ not in COMMON and not _is_operand(other):
            return NotImplemented
        if key == "sub":
            if state.formula:
                return catalogue.rows["rsub.Scalar"].run(self, other, 1)
            return catalogue.functions["rsub"](self, other)
        if key == "div":
            return self.reciprocal() * other
        if not isinstance(self, Tensor):
            raise TypeError(unbound(f"__r{name}__", self))
        if other.__class__ in COMMON and not state.formula:
            return names["number"](self, other)
        return otherwise(self, other)

    setattr(Tensor, f"__{name}__", first)
    setattr(Tensor, f"__r{name}__", backward)
    if key == "div":
        Tensor.__rdiv__ = backward  # type: ignore[attr-defined]  # Python 2's name, kept by PyTorch


def _power() -> None:
    """x ** 2 and x ** y go straight to their overloads."""
    by_number, by_tensor = catalogue.rows["pow.Tensor_Scalar"], catalogue.rows["pow.Tensor_Tensor"]
    of_number = catalogue.rows["pow.Scalar"]

    def forward(self: Any, other: Any) -> Any:
        if other.__class__ in NUMBERS:
            return by_number.run(self, other)
        if other.__class__ is Tensor:
            return by_tensor.run(self, other)
        return catalogue.methods["pow"](self, other) if _is_operand(other) else NotImplemented

    def backward(self: Any, other: Any) -> Any:
        if other.__class__ is Tensor:
            return by_tensor.run(other, self)
        return of_number.run(other, self) if _is_operand(other) else NotImplemented

    for name, body in (("pow", forward), ("rpow", backward)):
        setattr(Tensor, f"__{name}__", body)


_METHOD = {
    "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip


def _binary(name: str) -> None:
    key = _METHOD.get(name, name)

    def forward(self: Any, other: Any) -> Any:
        return catalogue.methods[key](self, other) if _is_operand(other) else NotImplemented

    def backward(self: Any, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        if not isinstance(self, Tensor):
            raise TypeError(unbound(f"__r{name}__", self))
        return catalogue.functions[key](other, self)

    setattr(Tensor, f"__{name}__", forward)
    setattr(Tensor, f"__r{name}__", backward)


def _comparison(name: str) -> None:
    def compare(self: Any, other: Any) -> Any:
        return catalogue.methods[name](self, other) if _is_operand(other) else NotImplemented

    setattr(Tensor, f"__{name}__", compare)


def _augmented(name: str) -> None:
    key = {"truediv": "div"}.get(name) or _METHOD.get(name, name)

    row = catalogue.rows[f"{key}_.Tensor"] if key in ("add", "sub", "mul", "div") else None

    def augment(self: Any, other: Any) -> Any:
        if row is not None and (other.__class__ is Tensor or other.__class__ in COMMON):
            return row.run(self, other)
        if not (_is_operand(other) or isinstance(other, Tensor)):  # sparse, or carried
            return NotImplemented
        twin: Function | None = catalogue.methods.get(key + "_")
        return twin(self, other) if twin is not None else catalogue.methods[key](self, other)

    setattr(Tensor, f"__i{name}__", augment)
