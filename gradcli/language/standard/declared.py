"""language: abc, dataclasses and typing."""

from __future__ import annotations

from collections.abc import Callable
from keyword import iskeyword
from typing import Any

from ..annotations import Annotation
from ..attributes import MISSING, get_attribute, set_attribute
from ..builtins.containers import make_dict
from ..builtins.types import host_type, type_of
from ..calls import call
from ..classes import EMPTY_BASES, ClassValue, FrozenInstanceError, add_method
from ..classes.instances import Property, slots_of
from ..classes.making import METACLASSES, TYPE, Parts, above, made_class
from ..formatting import quoted
from ..modules import MODULES as TABLE
from ..noted import hint, noted, of_function
from ..operations import COMPARE, check_key, collect, type_name
from ..session import session
from ..values import UNBOUND, Builtin, Function, Instance, Type
from .publishing import classes, functions
from .records import make_record


def base_type(
    name: str, module: str, finish: Callable[[ClassValue], Any] | None = None,
    made_by: Callable[..., Any] | None = None,
) -> Type:  # fmt: skip
    """A type that classes build on, and that has no objects of its own; a call may make a class."""

    def construct(*args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"cannot create '{name}' instances")

    made = Type(name, Instance, made_by or construct, module)
    EMPTY_BASES[made] = finish
    return made


# ---------------------------------------------------------------- abc

_ABSTRACT = "__isabstractmethod__"


def _abstract_method(function: Any) -> Any:
    inner = function.getter if type(function) is Property else getattr(function, "function", None)
    marked = inner if type(inner) is Function else function
    if type(marked) is Function:
        marked.keep(_ABSTRACT, True)
    return function


def _is_abstract(value: Any) -> bool:
    for inner in (value, getattr(value, "getter", None), getattr(value, "function", None)):
        if type(inner) is Function and _ABSTRACT in inner.table:
            return True
    return False


def _abstract_class(kind: ClassValue) -> ClassValue:
    names = {name for base in kind.order for name in base.table}
    kind.registered = []
    kind.abstract = tuple(sorted(name for name in names if _is_abstract(kind.find(name))))
    return kind


# ---------------------------------------------------------------- dataclasses


class Field:
    """dataclasses.field(...)"""

    _torch_name = "dataclasses.Field"
    PUBLIC = ("name", "type", "default", "default_factory", "init", "repr", "compare", "hash",
              "metadata", "kw_only")  # fmt: skip
    __slots__ = (
        "_default", "compare", "factory", "hash", "init", "kept", "kw_only", "metadata", "name",
        "repr", "text",
    )  # fmt: skip

    def __init__(
        self, *, default: Any = UNBOUND, default_factory: Any = UNBOUND, init: Any = True,
        repr: Any = True, compare: Any = True, kw_only: Any = False, hash: Any = None,
        metadata: Any = None,
    ) -> None:  # fmt: skip
        self.name = self.text = ""
        self._default, self.factory = default, default_factory
        self.hash, self.metadata = hash, {} if metadata is None else metadata
        self.init, self.repr, self.compare = bool(init), bool(repr), bool(compare)
        self.kw_only = bool(kw_only)
        self.kept = True  # False of an InitVar, which __post_init__ gets and no object has

    def has_default(self) -> bool:
        return self._default is not UNBOUND or self.factory is not UNBOUND

    @property
    def default(self) -> Any:
        return NO_DEFAULT if self._default is UNBOUND else self._default

    @property
    def default_factory(self) -> Any:
        return NO_DEFAULT if self.factory is UNBOUND else self.factory

    @property
    def type(self) -> Any:
        return noted(self.text)


NO_DEFAULT = Annotation("dataclasses.MISSING")


FIELDS = "__dataclass_fields__"
_MUTABLE = ("list", "dict", "set")


def _fields_of(kind: Any) -> dict[str, Field]:
    owner = kind.kind if isinstance(kind, Instance) else kind
    found = owner.find(FIELDS) if isinstance(owner, ClassValue) else MISSING
    if found is MISSING:
        raise TypeError("must be called with a dataclass type or instance")
    return found


def _stored_fields(kind: Any) -> dict[str, Field]:
    """The fields that its objects have."""
    return {name: field for name, field in _fields_of(kind).items() if field.kept}


def _dataclass(cls: Any = None, **options: Any) -> Any:
    if cls is None:
        return Builtin("dataclass", lambda kind: _as_dataclass(kind, options))
    return _as_dataclass(cls, options)


def _as_dataclass(kind: Any, options: dict[str, Any]) -> ClassValue:
    if not isinstance(kind, ClassValue):
        raise TypeError("dataclass() needs a class of the program")
    fields: dict[str, Field] = {}
    for base in reversed(kind.order[1:]):
        fields.update(base.table.get(FIELDS, {}))
    alone = bool(options.get("kw_only"))
    own = {name: text for name, text in kind.fields.items() if "ClassVar" not in text}
    for name, text in own.items():
        if text.rpartition(".")[2] == "KW_ONLY":
            alone = True
            continue
        fields[name] = _field(kind, name)
        fields[name].kw_only |= alone
    defaulted = False
    for name, field in fields.items():
        if field.init and defaulted and not field.has_default() and not field.kw_only:
            raise TypeError(f"non-default argument {name!r} follows default argument")
        defaulted = defaulted or (field.init and field.has_default())
    kind.table[FIELDS] = fields
    kind.table.setdefault("__match_args__", tuple(_positional(fields)))
    if options.get("slots"):
        kind.table["__slots__"] = tuple(own)
        kind.slots = slots_of(kind.order)
    methods: dict[str, Callable[..., Any]] = {
        "__init__": lambda self, *args, **kwargs: _start(kind, self, args, kwargs),
    }
    if options.get("repr", True):
        methods["__repr__"] = _repr_of
    if options.get("eq", True):
        methods["__eq__"] = _compared("Eq")
    if options.get("order"):
        methods.update({f"__{word.lower()}__": _compared(name) for word, name in _ORDERS.items()})
    for name, method in methods.items():
        if name not in kind.table:
            add_method(kind, name, method)
    kind.special = kind.special | {name for name in methods if name in ("__eq__", "__lt__")}
    hashed = bool(options.get("frozen") or options.get("unsafe_hash"))
    if kind.native is None and options.get("eq", True) and not hashed:
        kind.host.__hash__ = None  # type: ignore[assignment]
    elif hashed and "__hash__" not in kind.table:
        add_method(kind, "__hash__", _hash)
    kind.frozen = bool(options.get("frozen"))
    return kind


def _made_dataclass(
    cls_name: str, fields: Any, *, bases: tuple[Any, ...] = (), namespace: Any = None,
    **options: Any,
) -> ClassValue:  # fmt: skip
    """make_dataclass"""
    table, noted = dict(namespace or {}), dict[str, str]()
    for one in collect(fields):
        name, *more = (one,) if type(one) is str else collect(one)
        if type(name) is not str or not name.isidentifier():
            raise TypeError(f"Field names must be valid identifiers: {name!r}")
        if iskeyword(name):
            raise TypeError(f"Field names must not be keywords: {name!r}")
        if name in noted:
            raise TypeError(f"Field name duplicated: {name!r}")
        noted[name] = "Any"
        if more[1:]:
            table[name] = more[1]
    parts = Parts(cls_name, cls_name, bases, table, None, noted, [None])
    return _as_dataclass(made_class(parts, {}), options)


_ORDERS = {"lt": "Lt", "le": "LtE", "gt": "Gt", "ge": "GtE"}


def _field(kind: ClassValue, name: str) -> Field:
    value = kind.table.get(name, UNBOUND)
    if type(value) is Field:
        field = value
        if field._default is UNBOUND:
            del kind.table[name]
        else:
            kind.table[name] = field._default
    else:
        field = Field(default=value)
    if type_name(field._default) in _MUTABLE:
        word = type_name(field._default)
        raise ValueError(
            f"mutable default <class '{word}'> for field {name} is not allowed: use default_factory"
        )
    field.name = name
    field.text = kind.fields[name]
    field.kept = "InitVar" not in field.text
    return field


def _positional(fields: dict[str, Field]) -> list[str]:
    return [name for name, field in fields.items() if field.init and not field.kw_only]


def _start(kind: ClassValue, self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The __init__ of a dataclass."""
    fields = _fields_of(kind)
    asked = [name for name, field in fields.items() if field.init]
    positional = _positional(fields)
    if len(args) > len(positional):
        least = sum(1 for name in positional if not fields[name].has_default()) + 1
        most = len(positional) + 1
        takes = f"from {least} to {most}" if least < most else f"{least}"
        plural = "s" if most > 1 else ""
        raise TypeError(
            f"{kind.name}.__init__() takes {takes} positional argument{plural} but "
            f"{len(args) + 1} were given"
        )
    given = dict(zip(positional, args, strict=False))
    for name, value in kwargs.items():
        if name not in asked:
            raise TypeError(f"{kind.name}.__init__() got an unexpected keyword argument '{name}'")
        if name in given:
            raise TypeError(f"{kind.name}.__init__() got multiple values for argument '{name}'")
        given[name] = value
    missing = [n for n in asked if n not in given and not fields[n].has_default()]
    if missing:
        listed = " and ".join(f"'{name}'" for name in missing) if len(missing) < 3 else (
            ", ".join(f"'{name}'" for name in missing[:-1]) + f", and '{missing[-1]}'"
        )  # fmt: skip
        plural = "s" if len(missing) > 1 else ""
        raise TypeError(
            f"{kind.name}.__init__() missing {len(missing)} required positional "
            f"argument{plural}: {listed}"
        )
    for name, field in fields.items():
        if name not in given and field.factory is not UNBOUND:
            given[name] = call(field.factory, (), {})
        elif name not in given:
            given[name] = field._default
        if given[name] is UNBOUND or not field.kept:
            continue
        if isinstance(self, Instance):
            self.table[name] = given[name]
        else:
            set_attribute(self, name, given[name])
    after = self.kind.find("__post_init__") if isinstance(self, Instance) else MISSING
    if after is not MISSING:
        call(after, (self, *(given[n] for n, field in fields.items() if not field.kept)), {})


def _values(self: Any, kept: Callable[[Field], bool]) -> dict[str, Any]:
    fields = _stored_fields(self)
    return {name: get_attribute(self, name) for name, field in fields.items() if kept(field)}


def _repr_of(self: Any) -> str:
    def fields() -> str:
        shown = [f"{n}={quoted(v)}" for n, v in _values(self, lambda field: field.repr).items()]
        return f"{self.kind.qualified}({', '.join(shown)})"

    session.budget.enter()
    try:
        return session.shown_once(self, "...", fields)
    finally:
        session.budget.depth -= 1


def _compared(word: str) -> Callable[[Any, Any], Any]:
    def run(self: Any, other: Any) -> Any:
        if not isinstance(other, Instance) or other.kind is not self.kind:
            return NotImplemented
        pair = [tuple(_values(one, lambda field: field.compare).values()) for one in (self, other)]
        return COMPARE[word](*pair)

    return run


def _hash(self: Any) -> int:
    values = tuple(_values(self, lambda field: field.compare).values())
    check_key(values)
    return session.number_of_pointer(hash(values))  # Python's is salted: another on every run


def _as_dict(obj: Any, dict_factory: Any = None) -> dict[str, Any]:
    return {name: _inner(value, True) for name, value in _values(obj, lambda field: True).items()}


def _as_tuple(obj: Any) -> tuple[Any, ...]:
    return tuple([_inner(value, False) for value in _values(obj, lambda field: True).values()])


def _inner(value: Any, named: bool) -> Any:
    session.budget.enter()
    try:
        if isinstance(value, Instance) and value.kind.find(FIELDS) is not MISSING:
            return _as_dict(value) if named else _as_tuple(value)
        if type(value) in (list, tuple):
            return type(value)([_inner(item, named) for item in value])
        if type(value) is dict:
            return {key: _inner(item, named) for key, item in value.items()}
        return value
    finally:
        session.budget.depth -= 1


def _replaced(obj: Any, **changes: Any) -> Any:
    values = _values(obj, lambda field: field.init)
    for name in changes:
        if name not in values:
            raise TypeError(
                f"{obj.kind.name}.__init__() got an unexpected keyword argument '{name}'"
            )
    return call(obj.kind, (), {**values, **changes})


# ---------------------------------------------------------------- typing


def _named_tuple(kind: ClassValue) -> Any:
    defaults = {name: kind.table[name] for name in kind.fields if name in kind.table}
    record = make_record(kind.name, list(kind.fields), defaults)
    own = {name: value for name, value in kind.table.items() if name not in kind.fields}
    if not own:
        return record
    own["__slots__"] = ()
    parts = Parts(kind.name, kind.qualified, above((record,)), own, kind.doc, {}, [None])
    return made_class(parts, {})


def _typed_dict(kind: ClassValue) -> ClassValue:
    kind.make = lambda own, *args, **kwargs: make_dict(*args, **kwargs)
    return kind


def _typed_dict_of(typename: str, fields: Any, /, *, total: Any = True) -> ClassValue:
    """TypedDict("Point", {"x": int})"""
    return _typed_dict(ClassValue(str(typename), str(typename), (), {}))


def _as_is(value: Any) -> Any:
    return value


def _hints(value: Any) -> dict[str, Any]:
    """typing.get_type_hints"""
    if isinstance(value, ClassValue):
        texts = {name: t for kind in reversed(value.order) for name, t in kind.fields.items()}
    elif type(value) is Function:
        texts = of_function(value)
    else:
        raise TypeError(f"{quoted(value)} is not a module, class, method, or function.")
    none = type_of(None)
    return {name: none if (kind := hint(text)) is None else kind for name, text in texts.items()}


def _type_variable(name: str, *bounds: Any, **options: Any) -> Annotation:
    return Annotation(f"~{name}")


_TYPING: dict[str, Any] = {
    name: Annotation(f"typing.{name}") for name in TABLE["typing"].names
} | {
    "Protocol": base_type("Protocol", "typing"),
    "TypedDict": base_type("TypedDict", "typing", _typed_dict, _typed_dict_of),
    "NamedTuple": base_type("NamedTuple", "typing", _named_tuple), "TYPE_CHECKING": False,
    "cast": Builtin("cast", lambda typ, val: val), "overload": Builtin("overload", _as_is),
    **{word: Builtin(word, _as_is) for word in (
        "final", "runtime_checkable", "override", "no_type_check")},
    "deprecated": Builtin("deprecated", lambda message, **options: Builtin("deprecated", _as_is)),
    **{word: Builtin(word, _type_variable) for word in ("TypeVar", "ParamSpec", "TypeVarTuple")},
    **functions({"get_type_hints": lambda obj, **options: _hints(obj)}),
    "NewType": Builtin("NewType", lambda name, tp: tp),
}  # fmt: skip
_ABC = base_type("ABC", "abc", _abstract_class)
_ABC_META = base_type("ABCMeta", "abc", EMPTY_BASES[TYPE])
METACLASSES[_ABC_META] = (_ABC,)
MODULES: dict[str, dict[str, Any]] = {
    "abc": {
        "ABC": _ABC, "ABCMeta": _ABC_META,
        **functions({"abstractmethod": _abstract_method}),
        "abstractproperty": Builtin("abstractproperty", lambda f: Property(_abstract_method(f))),
    },
    "dataclasses": {
        "field": Builtin("field", lambda **options: Field(**options)),
        **functions({
            "dataclass": _dataclass, "make_dataclass": _made_dataclass,
            "asdict": _as_dict, "astuple": _as_tuple,
            "replace": _replaced, "is_dataclass": lambda obj: _is_dataclass(obj),
            "fields": lambda obj: tuple(_stored_fields(obj).values()),
        }),
        **classes([Field]), "FrozenInstanceError": host_type(FrozenInstanceError),
        "InitVar": Annotation("dataclasses.InitVar"), "KW_ONLY": Annotation("dataclasses.KW_ONLY"),
        "MISSING": NO_DEFAULT,
    },
    "typing": _TYPING, "typing_extensions": _TYPING,
    "collections.abc": {name: Annotation(f"collections.abc.{name}") for name in (
        TABLE["collections.abc"].names)},
}  # fmt: skip


def _is_dataclass(obj: Any) -> bool:
    try:
        return bool(_fields_of(obj)) or True
    except TypeError:
        return False
