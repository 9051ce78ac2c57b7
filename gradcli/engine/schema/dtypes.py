"""Engine: element types, and PyTorch's rules for mixing them (which are not NumPy's)."""

from __future__ import annotations

from .class_name import NamedInC, name_in_messages
from .run_state import run_state

BOOL, INTEGER, FLOATING, COMPLEX = range(4)


class DType(metaclass=NamedInC):
    """One of PyTorch's element types.

    `numpy` names the array type that carries the values. The types of reduced precision, float16
    and bfloat16, are carried in float32 arrays: PyTorch computes in single precision with them and
    rounds each result once (NumPy rounds every step, and has no bfloat16). See `reduced`.
    """

    __slots__ = ("name", "numpy", "itemsize", "category", "word", "rank", "aliases", "is_reduced")
    _torch_name = "torch.dtype"

    def __init__(
        self,
        name: str,
        numpy: str,
        itemsize: int,
        category: int,
        word: str,
        rank: int,
        aliases: tuple[str, ...] = (),
    ) -> None:
        self.name, self.numpy, self.itemsize = name, numpy, itemsize
        self.category, self.word, self.rank, self.aliases = category, word, rank, aliases
        self.is_reduced = category == FLOATING and itemsize == 2

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:
        return "bool_" if self.name == "bool" else self.name

    @property
    def c_word(self) -> str:
        """What a compiler of C++ calls the type, which is how PyTorch names it in some places."""
        return _C_WORDS.get(self.name, self.name)

    @property
    def type_word(self) -> str:
        """What PyTorch's oldest messages call a tensor of the type."""
        old = self.category != COMPLEX and self.word not in ("Bool", "BFloat16")
        return f"torch.{self.word}Tensor" if old else f"CPU{self.word}Type"

    @property
    def is_floating_point(self) -> bool:
        return self.category == FLOATING

    @property
    def is_complex(self) -> bool:
        return self.category == COMPLEX

    @property
    def is_signed(self) -> bool:
        return self.name not in ("bool", "uint8")


_C_WORDS = {
    "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int",
    "int64": "long int", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float",
    "float64": "double", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip

bool_ = DType("bool", "bool", 1, BOOL, "Bool", 0)
uint8 = DType("uint8", "uint8", 1, INTEGER, "Byte", 1)
int8 = DType("int8", "int8", 1, INTEGER, "Char", 1)
int16 = DType("int16", "int16", 2, INTEGER, "Short", 2, ("short",))
int32 = DType("int32", "int32", 4, INTEGER, "Int", 3, ("int",))
int64 = DType("int64", "int64", 8, INTEGER, "Long", 4, ("long",))
float16 = DType("float16", "float32", 2, FLOATING, "Half", 1, ("half",))
bfloat16 = DType("bfloat16", "float32", 2, FLOATING, "BFloat16", 1)
float32 = DType("float32", "float32", 4, FLOATING, "Float", 2, ("float",))
float64 = DType("float64", "float64", 8, FLOATING, "Double", 3, ("double",))
complex64 = DType("complex64", "complex64", 8, COMPLEX, "ComplexFloat", 2, ("cfloat",))
complex128 = DType("complex128", "complex128", 16, COMPLEX, "ComplexDouble", 3, ("cdouble",))

ALL = (
    bool_, uint8, int8, int16, int32, int64,
    float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
BY_NAME: dict[str, DType] = {d.name: d for d in ALL} | {a: d for d in ALL for a in d.aliases}
# The element type of an array that comes from outside. Inside, float32 may carry a reduced type.
OF_ARRAY: dict[str, DType] = {d.numpy: d for d in ALL if not d.is_reduced} | {"float16": float16}


class _Default:
    """torch.get_default_dtype"""

    __slots__ = ("dtype",)

    def __init__(self) -> None:
        self.dtype = float32


_default = run_state(_Default())


def default_dtype() -> DType:
    """The type of floating values that name none (torch.get_default_dtype)."""
    return _default.dtype


def set_default_dtype(dtype: DType) -> None:
    """torch.set_default_dtype; TypeError for a type that is not floating."""
    if not isinstance(dtype, DType):
        raise TypeError(
            "invalid dtype object: only floating-point types are supported as the default type"
        )
    if dtype.category != FLOATING:
        raise TypeError("only floating-point types are supported as the default type")
    _default.dtype = dtype


def default_complex() -> DType:
    return complex128 if _default.dtype is float64 else complex64


_COMPLEX_OF = {
    "float16": complex64,
    "bfloat16": complex64,
    "float32": complex64,
    "float64": complex128,
}


def complex_of(dtype: DType) -> DType:
    """The complex type whose parts are of this type."""
    return dtype if dtype.category == COMPLEX else _COMPLEX_OF.get(dtype.name, default_complex())


def real_of(dtype: DType) -> DType:
    """The type of a complex type's parts; a real type itself."""
    return {"complex64": float32, "complex128": float64}.get(dtype.name, dtype)


def _check_type(function: str, name: str, place: int, value: object) -> None:
    if value.__class__ is not DType:
        raise TypeError(
            f"{function}(): argument '{name}' (position {place}) must be torch.dtype, not "
            f"{name_in_messages(type(value))}"
        )


def promote_types(a: DType, b: DType) -> DType:
    """torch.promote_types: the type two dimensioned tensors meet in."""
    if a is b:
        return a
    _check_type("promote_types", "type1", 1, a)
    _check_type("promote_types", "type2", 2, b)
    if a.category < b.category:
        a, b = b, a
    if a.category == b.category:
        if a.category == INTEGER and uint8 in (a, b):
            other = b if a is uint8 else a
            return int16 if other is int8 else other
        if {a, b} == {float16, bfloat16}:
            return float32
        return a if a.rank > b.rank else b
    if a.category == COMPLEX and b.category == FLOATING:
        other = _COMPLEX_OF[b.name]
        return a if a.rank >= other.rank else other
    return a


def of_number(value: object) -> DType:
    """The type a Python number stands for."""
    kind = type(value)
    if kind is bool:
        return bool_
    if kind is int:
        return int64
    return default_complex() if kind is complex else _default.dtype


def result_type(dimensioned: list[DType], zero_dim: list[DType], numbers: list[DType]) -> DType:
    """torch.result_type over three classes of operands, strongest first.

    A weaker class counts only when its category is higher than that of all stronger ones
    (ATen's ResultTypeState: dimResult, zeroResult, wrappedResult).
    """
    result: DType | None = None
    for group in (dimensioned, zero_dim, numbers):
        weak: DType | None = None
        for dtype in group:
            weak = dtype if weak is None else promote_types(weak, dtype)
        if weak is None:
            continue
        if result is None:
            result = weak
        elif weak.category > result.category:
            result = _beside(result, weak) if weak.category == COMPLEX else weak
            if group is numbers and result.category == FLOATING:
                result = _default.dtype
    assert result is not None
    return result


def _beside(strong: DType, weak: DType) -> DType:
    """A complex type beside one that counts more: of that one's precision, if it has any."""
    return complex_of(strong) if strong.category == FLOATING else weak


def can_cast(source: DType, target: DType) -> bool:
    """torch.can_cast: by category, bool lowest; a lower category takes no higher one."""
    _check_type("can_cast", "from_", 1, source)
    _check_type("can_cast", "to", 2, target)
    if source.category == COMPLEX and target.category != COMPLEX:
        return False
    if source.category == FLOATING and target.category < FLOATING:
        return False
    return not (source.category == INTEGER and target.category == BOOL)
