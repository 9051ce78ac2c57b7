"""language: the values of a program that are not plain Python data; records, never host objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..engine.schema.class_name import name_in_messages
from ..engine.schema.mode import state
from .annotations import Annotation, Joined
from .session import session
from .suspension import is_async

if TYPE_CHECKING:
    from .names import Scope

Closure = Callable[[list[Any]], Any]


class _Unbound:
    """What a slot holds before its name is bound."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<unbound>"


UNBOUND = _Unbound()


class Jump:
    """What a block answers when it ends by break or continue; a return answers a 1-tuple."""

    __slots__ = ("word",)

    def __init__(self, word: str) -> None:
        self.word = word


BREAK = Jump("break")
CONTINUE = Jump("continue")


class Parameters:
    """The parameters of a function, prepared for binding."""

    __slots__ = (
        "any_keywords", "any_positional", "keyword_only", "names", "places", "positional_only",
    )  # fmt: skip

    def __init__(
        self,
        names: tuple[str, ...],
        positional_only: int,
        any_positional: str | None,
        keyword_only: tuple[str, ...],
        any_keywords: str | None,
    ) -> None:
        self.names = names
        self.places = {name: place for place, name in enumerate(names)}
        self.positional_only = positional_only
        self.any_positional = any_positional
        self.keyword_only = keyword_only
        self.any_keywords = any_keywords


class Code:
    """What the compiler makes of one `def` or `lambda`; shared by all functions made from it.

    A frame is a list: parameters first, then the boxes from outside, then the other names.
    """

    __slots__ = (
        "block", "boxed", "doc", "locals", "name", "parameters", "plain", "qualified", "scope",
        "value",
    )  # fmt: skip

    def __init__(self, name: str, qualified: str, parameters: Parameters, doc: str | None) -> None:
        self.name = name
        self.qualified = qualified
        self.parameters = parameters
        self.doc = doc
        self.block: Closure | None = None  # the body of a def
        self.value: Closure | None = None  # the body of a lambda, or of a def that only returns
        self.boxed: tuple[int, ...] = ()  # slots that inner functions use, each in a box
        self.locals = 0  # slots behind the parameters and the boxes from outside
        self.scope: Scope | None = None  # which name has which slot
        # How many positional arguments fill all parameters, or -1 when binding needs more.
        self.plain = -1


NOTHING_KEPT: dict[str, Any] = {}  # replaced, and never changed, when a function keeps something


class Function:
    """A function of the program. The engine may call it (hooks); the interpreter calls `invoke`."""

    __slots__ = (
        "code", "defaults", "doc", "keyword_defaults", "name", "table", "template", "__weakref__",
    )  # fmt: skip

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __init__(
        self,
        code: Code,
        defaults: tuple[Any, ...],
        keyword_defaults: dict[str, Any],
        cells: list[Any],
    ) -> None:
        self.code = code
        self.name = code.name
        self.doc = code.doc
        self.table: dict[str, Any] = NOTHING_KEPT
        self.defaults = defaults
        self.keyword_defaults = keyword_defaults
        self.template = cells + [UNBOUND] * code.locals

    @property
    def yields(self) -> bool:
        """Does a call give a generator? Decorators of the library ask."""
        scope = self.code.scope
        return scope is not None and scope.yields and not is_async(scope.node)

    def keep(self, name: str, value: Any) -> None:
        """An attribute that the program gives to the function."""
        if self.table is NOTHING_KEPT:
            self.table = {}
        self.table[name] = value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        origin = state.origin
        answer = CALLER.invoke(self, *adopted(args, kwargs))
        state.origin = origin  # the library goes on, in the expression that called it
        return answer


class _Caller:
    """Holds what knows more rooms than this one: how a function runs, what may be handed to it."""

    __slots__ = ("adopt", "invoke")

    adopt: Callable[[Any], Any]
    invoke: Callable[[Function, tuple[Any, ...], dict[str, Any]], Any]


def adopted(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments of a call that comes from the host, as values."""
    adopt = CALLER.adopt
    return tuple(map(adopt, args)), {name: adopt(value) for name, value in kwargs.items()}


CALLER = _Caller()


def _counted(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call that comes from the host: wrappers around wrappers count as nested calls."""
    budget = session.budget
    budget.enter()
    try:
        args, kwargs = adopted(args, kwargs)
        return function(*args, **kwargs)
    finally:
        budget.depth -= 1


def stepwise(items: Iterator[Any]) -> Iterator[Any]:
    """The items one by one, each a step; iterators inside iterators count as nested calls."""
    step = items.__next__
    budget = session.budget
    while True:
        budget.charge(1)
        budget.enter()
        try:
            item = step()
        except StopIteration:
            return
        finally:
            budget.depth -= 1
        yield item


def answering_to(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; where it has no public name, the host's errors of arguments name this."""
    if type(function) is FunctionType:
        own = function.__qualname__
        if own.startswith("_") or "<" in own:
            function.__qualname__ = name
    return function


class Builtin:
    """A function of the language or of the library, by its name."""

    __slots__ = ("function", "name", "text", "wraps", "path", "is_method", "__weakref__")

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __init__(
        self, name: str, function: Callable[..., Any], text: str = "",
        wraps: Function | None = None, path: str = "", is_method: bool = False,
    ) -> None:  # fmt: skip
        self.name = name
        self.path = path or name  # what torch.typename says of it
        self.function = answering_to(name, function)
        self.wraps = wraps  # what @torch.no_grad() and its like made it of
        self.is_method = is_method  # in a class it takes the object first
        self.text = text or f"<built-in function {name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _counted(self.function, args, kwargs)


class Bound:
    """A method taken as a value: `f = x.add`."""

    __slots__ = ("function", "name", "owner", "__weakref__")

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __init__(self, name: str, owner: Any, function: Callable[..., Any]) -> None:
        self.name = name
        self.owner = owner
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _counted(self.function, (self.owner, *args), kwargs)

    @property
    def yields(self) -> bool:
        return getattr(self.function, "yields", False)

    @property
    def path(self) -> str:
        """What torch.typename says of it."""
        if own := getattr(getattr(self.function, "code", None), "qualified", ""):
            return f"__main__.{own}"
        order = type(self.owner).__mro__
        maker = next((kind for kind in order if self.name in kind.__dict__), order[0])
        full = repr(maker).removeprefix("<class '").removesuffix("'>")
        return f"{full if full.startswith('torch.nn') else maker.__name__}.{self.name}"

    def __eq__(self, other: object) -> bool:
        return type(other) is Bound and self.owner is other.owner and self.name == other.name

    def __hash__(self) -> int:
        return hash((id(self.owner), self.name))


class Type(Joined):
    """A type as a value: `int`, `torch.Tensor`, `nn.Linear`. `text` is what print shows."""

    __slots__ = ("construct", "host", "module", "name", "__weakref__")
    is_class = True

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __init__(
        self,
        name: str,
        host: type | tuple[type, ...],
        construct: Callable[..., Any],
        module: str = "",
    ) -> None:
        self.name = name
        self.host = host
        self.construct = construct
        self.module = module

    @property
    def text(self) -> str:
        return f"<class '{self.module}.{self.name}'>" if self.module else f"<class '{self.name}'>"

    @property
    def in_messages(self) -> str:
        """The name in Python's errors: whole for a class that PyTorch wrote in C."""
        written = name_in_messages(self.host) if isinstance(self.host, type) else ""
        return written if "." in written else self.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _counted(self.construct, args, kwargs)


class Namespace:
    """A module as a value: a dotted name and nothing behind it but the table of names."""

    __slots__ = ("path",)

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __init__(self, path: str) -> None:
        self.path = path


class ErrorValue:
    """An error in the program's hands: a type and arguments, no traceback."""

    __slots__ = ("args", "cause", "kind", "table", "__weakref__")

    def __init__(self, kind: Type, args: tuple[Any, ...]) -> None:
        self.kind = kind
        self.args = args
        self.cause: ErrorValue | None = None
        self.table: dict[str, Any] = {}  # what the program keeps on it: error.code = 3


class NestedSlice:
    """A slice within a slice. Python frees a chain of slices by recursion, of these it does not."""

    __slots__ = ("value",)

    def __init__(self, value: slice) -> None:
        self.value = value


def make_slice(*parts: Any) -> slice:
    """slice(...)"""
    return slice(*[NestedSlice(part) if type(part) is slice else part for part in parts])


def slice_parts(value: slice) -> tuple[Any, Any, Any]:
    """Start, stop and step as the program gave them."""
    parts = (value.start, value.stop, value.step)
    start, stop, step = (part.value if type(part) is NestedSlice else part for part in parts)
    return start, stop, step


class Instance:
    """An object of a program's class; each class has a host of its name, see `instances`."""

    __slots__ = ("kind", "table", "__weakref__")
    content: Any  # where the class builds on dict and its like: a slot of its host

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.table: dict[str, Any] = {}


def stands_for(value: Any) -> Any:
    """What a member of an enumeration is, or an object of a class beneath dict holds; or itself."""
    if not isinstance(value, Instance):
        return value
    if value.kind.content is not None:
        return value.content
    own = value.kind.enumeration
    if own is None or own.plain is None:
        return value
    found = value.table.get("_value_")
    if type(found) is not own.plain.host:
        raise TypeError(f"a member of {value.kind.name} lost its value")
    return found


class Plain:
    """What object() gives."""

    __slots__ = ("__weakref__",)


NOT_WALKED = frozenset({"coroutine", "async_generator"})  # kinds that only `async` goes through


class Lazy:
    """An iterator: zip, map, enumerate, a generator expression ..."""

    __slots__ = ("items", "kind", "name", "__weakref__")

    def __init__(self, kind: str, items: Iterator[Any], name: str = "<genexpr>") -> None:
        self.kind, self.items = kind, items
        self.name = name  # of the function that yields them

    type_name = property(lambda self: self.kind)
    # What torch.typename says.
    path = property(lambda self: self.name if self.kind == "generator" else self.kind)

    def steps(self) -> Iterator[Any]:
        """What `await` goes through: a coroutine once, a generator as long as there is more."""
        if self.kind == "coroutine" and self.items.gi_frame is None:  # type: ignore[attr-defined]
            raise RuntimeError("cannot reuse already awaited coroutine")
        return self.items

    def __iter__(self) -> Iterator[Any]:
        """For the host; the language takes `items` and counts itself."""
        if self.kind in NOT_WALKED:
            raise TypeError(f"'{self.kind}' object is not iterable")
        return stepwise(self.items)

    def __next__(self) -> Any:
        if self.kind in NOT_WALKED:
            raise TypeError(f"'{self.kind}' object is not an iterator")
        session.budget.charge(1)
        return next(self.items)

    def send(self, value: Any) -> Any:
        session.budget.charge(1)
        return self.items.send(value)  # type: ignore[attr-defined]

    def throw(self, error: BaseException) -> Any:
        session.budget.charge(1)
        return self.items.throw(error)  # type: ignore[attr-defined]

    def close(self) -> None:
        self.items.close()  # type: ignore[attr-defined]


# Python's own messages name the types of operands; the records answer to the names that they play.
for _record, _name in (
    (Function, "function"), (Builtin, "builtin_function_or_method"), (Bound, "method"),
    (Type, "type"), (Namespace, "module"), (Plain, "object"), (Lazy, "generator"),
    (ErrorValue, "Exception"), (Annotation, "_GenericAlias"),
):  # fmt: skip
    _record.__name__ = _record.__qualname__ = _name
