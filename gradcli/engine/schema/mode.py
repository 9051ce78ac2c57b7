"""Engine: the current modes: grad mode, inference mode, the place in the program."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Generator
from operator import attrgetter
from typing import Any, TypeVar

from .class_name import NamedInTorch
from .errors import type_name
from .run_state import run_state

F = TypeVar("F", bound=Callable[..., Any])


def _warn(message: str, category: type[Warning] = UserWarning) -> None:
    warnings.warn(message, category, stacklevel=3)


def _itself(value: Any) -> Any:
    return value


def _reserve(size: int) -> None:
    """Memory and work are unlimited unless the pipeline installs a budget."""


class State:
    """What holds for every operation now.

    `origin` is opaque: the interpreter sets it, every new node keeps it. `formula` is
    true while a derivative formula runs on tensors, where PyTorch's C++ takes the Scalar overload
    for a number. `warn`, `reserve` (bytes) and `charge` (steps) are replaced by the pipeline, which
    may also ask every backward pass to keep the graph, or to create one.
    """

    __slots__ = (
        "grad_enabled", "_inference", "newborn", "inside", "wished", "origin", "formula", "anomaly",
        "anomaly_check_nan", "warn", "reserve", "charge", "saved_hooks", "refused_hooks",
        "_observer", "_recorder",
        "watched", "told",
        "on_made", "keep_graph", "create_graph", "aside", "hooked", "on_tensors", "reshaped",
        "in_fast_backward", "full_backward", "anomalies", "taken", "plain", "next_handle",
    )  # fmt: skip

    def __init__(self) -> None:
        self.grad_enabled = True
        # Told of tensors that are made outside of graphs: in inference mode, and inside of
        # transformed functions.
        self.newborn: Callable[[Any], None] | None = None
        self.inside: Callable[..., None] | None = None
        self._inference = False
        self.wished = False  # grad mode inside of inference mode, where nothing is recorded
        self.origin: object = None
        self.formula = False
        self.anomaly = False
        self.anomaly_check_nan = True
        self.anomalies: list[tuple[int, int | None]] = []  # the numbers of nodes made in that mode
        self.warn: Callable[..., None] = _warn
        self.reserve: Callable[[int], None] = _reserve
        self.charge: Callable[[int], None] = _reserve
        # What a caller gave to be walked over, as a list; the language counts what it takes.
        self.taken: Callable[[Any], list[Any]] = list
        # The number or list that an argument stands for, such as a member of an enumeration.
        self.plain: Callable[[Any], Any] = _itself
        self.saved_hooks: list[tuple[Callable[..., Any], Callable[..., Any]]] = []
        self.refused_hooks: list[str] = []  # what those say who do not want saved tensors packed
        self._observer: Any = None
        self._recorder: Any = None
        self.watched = False  # there are hooks or an observer: one test per operation
        self.told = False  # somebody asks for new nodes
        self.on_made: Callable[[Any], None] | None = None  # what the observer does about a result
        self.full_backward: Any = None  # the pass of that kind that is going on
        self.keep_graph = False
        self.create_graph = False
        self.aside: dict[Any, Any] | None = None  # what passes freed, by node; see `aside`
        # A tensor of reduced precision was asked for, or a sparse one, ever: passes through these
        # run on tensors, and not on arrays.
        self.on_tensors = False
        self.hooked = False  # a hook was registered, or a gradient retained, ever
        self.reshaped = False  # a leaf of a graph took another shape in place, ever
        self.in_fast_backward = False  # an ordinary pass is under way
        self.next_handle = itertools.count().__next__  # the numbers of registered hooks

    def _observe(self, value: Any) -> None:
        self._observer = value
        self._look()

    def _record(self, value: Any) -> None:
        self._recorder = value
        self._look()

    # Read at every operation and every node of a pass, so by C. The recorder sees every
    # operation that enters a graph, with its arguments: it can be run again.
    observer: Any = property(attrgetter("_observer"), _observe)
    recorder: Any = property(attrgetter("_recorder"), _record)

    def _infer(self, mode: bool) -> None:
        self._inference = mode
        self.newborn = self.mark_inference if mode else self.inside

    inference: Any = property(attrgetter("_inference"), _infer)
    mark_inference: Any = None  # see `leaf`

    def go_inside(self, told: Callable[..., None] | None) -> None:
        """Who is told of new tensors while a transformed function runs."""
        self.inside = told
        self._infer(self._inference)

    def _look(self) -> None:
        observer = self._observer
        told = bool(self.saved_hooks) or self._recorder is not None
        self.watched = told or observer is not None
        self.on_made = observer.made if observer is not None and observer.hears("made") else None
        self.told = told or self.on_made is not None or (
            observer is not None and observer.hears("used")
        )  # fmt: skip

    def switch_anomaly(self, mode: bool, check_nan: bool) -> None:
        """Turns anomaly mode on or off."""
        if mode and not self.anomaly:
            self.anomalies.append((next_sequence(), None))
        elif self.anomaly and not mode:
            self.anomalies[-1] = (self.anomalies[-1][0], next_sequence())
        self.anomaly, self.anomaly_check_nan = mode, check_nan

    def push_saved_hooks(self, pair: tuple[Callable[..., Any], Callable[..., Any]]) -> None:
        self.saved_hooks.append(pair)
        self._look()

    def pop_saved_hooks(self) -> None:
        self.saved_hooks.pop()
        self._look()


_sequence = itertools.count()
next_sequence: Callable[[], int] = _sequence.__next__


def sequence_so_far() -> int:
    """The number that comes next, without taking it."""
    return int(repr(_sequence)[6:-1])  # count(7)


state = run_state(State())


def as_bool(value: Any, call: str, name: str, position: int = 0) -> bool:
    """A switch is True or False, and nothing that only resembles them."""
    if type(value) is bool:
        return value
    where = f" (position {position})" if position else ""
    raise TypeError(f"{call}(): argument '{name}'{where} must be bool, not {type_name(value)}")


def _switch(wished: bool) -> None:
    """Switches grad mode; in inference mode nothing is recorded in any case."""
    state.grad_enabled = wished and not state.inference
    state.wished = wished


class _DecoratorContextManager(metaclass=NamedInTorch):
    """A switch that works as a context manager and as a decorator, like PyTorch's."""

    _torch_home = "torch.autograd.grad_mode."
    PUBLIC: tuple[str, ...] = ("prev", "clone")
    __slots__ = ("prev",)
    prev: bool

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *error: object) -> None:
        _switch(self.prev)

    def __call__(self, orig_func: F) -> F:
        function: Callable[..., Any] = orig_func
        if isinstance(orig_func, type) or getattr(orig_func, "is_class", False):
            state.warn(_OF_CLASSES, FutureWarning)
            function = lambda *args, **kwargs: orig_func(*args, **kwargs)  # noqa: E731
        elif _yields(orig_func):
            return _stepwise(self.clone, orig_func)

        @functools.wraps(function)
        def decorate_context(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return decorate_context  # type: ignore[return-value]

    def clone(self) -> _DecoratorContextManager:
        return type(self)()


_OF_CLASSES = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only "
    "decorate functions or methods. To preserve the current behavior of class decoration, you can "
    "directly decorate the `__init__` method and nothing else."
)
_CO_GENERATOR = 0x20


def _yields(function: Any) -> bool:
    """Is it a function whose call gives a generator? Functions of the language say so."""
    told = getattr(function, "yields", None)
    if told is None:
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        return bool(getattr(code, "co_flags", 0) & _CO_GENERATOR)
    return bool(told)


def _stepwise(again: Callable[[], _DecoratorContextManager], function: F) -> F:
    """The generator runs within the mode, and whoever walks through it without."""

    @functools.wraps(function)
    def generator_context(*args: Any, **kwargs: Any) -> Any:
        steps: Any = stepped(again, function(*args, **kwargs))
        steps.__qualname__ = getattr(function, "name", None) or function.__qualname__
        return steps

    return generator_context  # type: ignore[return-value]


def stepped(again: Callable[[], Any], inner: Any) -> Generator[Any, Any, Any]:
    """The items of a generator, each made within a context of its own."""
    try:
        with again():
            item = inner.send(None)
        while True:
            try:
                given = yield item
            except GeneratorExit:
                with again():
                    inner.close()
                raise
            except BaseException as error:
                with again():
                    item = inner.throw(error)
            else:
                with again():
                    item = inner.send(given)
    except StopIteration as end:
        return end.value


class no_grad(_DecoratorContextManager):
    """Results made inside require no gradient."""

    __slots__ = ()

    def __new__(cls, orig_func: Any = None) -> Any:
        if orig_func is not None:  # @torch.no_grad without brackets
            return cls()(orig_func)
        return object.__new__(cls)

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        state.grad_enabled = state.wished = False


class enable_grad(no_grad):
    """Results made inside require a gradient again, within no_grad too."""

    __slots__ = ()

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        _switch(True)


class set_grad_enabled(_DecoratorContextManager):
    """Switches at once, and back at the end of a with statement."""

    PUBLIC = ("prev", "clone", "mode")
    __slots__ = ("mode",)

    def __init__(self, mode: bool) -> None:
        self.prev = is_grad_enabled()
        self.mode = as_bool(mode, "set_grad_enabled", "enabled", 1)
        _switch(self.mode)

    def __enter__(self) -> None:
        _switch(self.mode)

    def __call__(self, orig_func: F) -> F:
        _switch(self.prev)  # as a decorator it switches only inside
        return super().__call__(orig_func)

    def __repr__(self) -> str:
        return f"{self._torch_home}set_grad_enabled(mode={self.mode})"

    def clone(self) -> _DecoratorContextManager:
        return set_grad_enabled(self.mode)


class inference_mode(_DecoratorContextManager):
    """no_grad whose tensors can never enter a graph."""

    PUBLIC = ("clone", "mode")
    __slots__ = ("mode", "_before")

    def __new__(cls, mode: Any = True) -> Any:
        if type(mode) is not bool:  # @torch.inference_mode without brackets
            return cls()(mode)
        return object.__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._before: tuple[bool, bool, bool] | None = None

    def __enter__(self) -> None:
        self._before = state.grad_enabled, state.inference, state.wished
        state.inference = self.mode
        _switch(not self.mode)

    def __exit__(self, *error: object) -> None:
        if self._before is not None:  # entered twice, it goes back once
            state.grad_enabled, state.inference, state.wished = self._before
            self._before = None

    def clone(self) -> _DecoratorContextManager:
        return inference_mode(self.mode)


class detect_anomaly(metaclass=NamedInTorch):
    """torch.autograd.detect_anomaly: the backward pass checks for NaN."""

    PUBLIC: tuple[str, ...] = ("prev", "prev_check_nan", "check_nan")
    __slots__ = ("check_nan", "prev", "prev_check_nan")

    def __init__(self, check_nan: bool = True) -> None:
        self.prev, self.prev_check_nan = state.anomaly, state.anomaly_check_nan
        self.check_nan = check_nan
        state.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging."
        )

    def __enter__(self) -> None:
        state.switch_anomaly(True, self.check_nan)

    def __exit__(self, *error: object) -> None:
        state.switch_anomaly(self.prev, self.prev_check_nan)


class set_detect_anomaly(detect_anomaly):
    """The same as a switch: torch.autograd.set_detect_anomaly(True)."""

    PUBLIC = ("prev", "prev_check_nan")
    __slots__ = ()

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev, self.prev_check_nan = state.anomaly, state.anomaly_check_nan
        state.switch_anomaly(
            as_bool(mode, "set_anomaly_enabled", "enabled", 1),
            as_bool(check_nan, "set_anomaly_enabled", "check_nan", 2),
        )

    def __enter__(self) -> None:
        """It has switched already."""


class disable_saved_tensors_hooks:
    """Inside, torch.autograd.graph.saved_tensors_hooks raise the given words."""

    def __init__(self, error_message: str) -> None:
        self._message = error_message

    def __enter__(self) -> None:
        if state.saved_hooks:
            raise RuntimeError(self._message)
        state.refused_hooks.append(self._message)

    def __exit__(self, *error: object) -> None:
        state.refused_hooks.pop()


def is_grad_enabled() -> bool:
    return state.wished if state.inference else state.grad_enabled


def is_inference_mode_enabled() -> bool:
    return state.inference


def is_anomaly_enabled() -> bool:
    return state.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    return state.anomaly_check_nan
