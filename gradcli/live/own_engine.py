"""Live: a recording of the own engine where Python runs the program: `import gradcli as torch`.

The engine tells its observer of everything; what it does not know is the place in the text, which
the frame of the program has.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from types import FrameType, FunctionType, ModuleType
from typing import Any

from ..engine.graph.observer import EVENTS, Observer
from ..engine.schema.mode import state
from ..engine.tensors.tensor import Tensor
from ..recording.side import Side
from .defects import Defects
from .library import Homes
from .text import Text


def is_own(frame: FrameType) -> bool:
    """Whether gradcli's own engine runs. PyTorch may be imported within the recording."""
    if "torch" in sys.modules:
        return frame.f_globals.get("torch") is sys.modules["gradcli"]
    names = {**frame.f_globals, **frame.f_locals}.values()
    homes = {getattr(one, "__module__", None) or getattr(one, "__name__", "") for one in names}
    rooms = [str(home).split(".")[:2] for home in homes]
    return any(room[0] == "gradcli" and room != ["gradcli", "inspect"] for room in rooms)


class OwnSide(Side):
    """The engine's own side, where Python runs the program."""

    tensor = Tensor

    def __init__(self) -> None:
        self.homes = Homes()
        self.hands_off = nullcontext

    def is_new_leaf(self, tensor: Any) -> bool:
        """Whether a tensor of the program is a leaf."""
        return bool(tensor.requires_grad and tensor.is_leaf)

    def transform(self) -> None:
        """Transformed functions are reported like others."""

    def is_traced(self) -> bool:
        """Nothing of it is only traced."""
        return False

    def bindings(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """What a program bound: modules, functions and classes aside."""
        plain = (ModuleType, FunctionType, type)
        return {name: value for name, value in names.items()
                if not name.startswith("__") and not isinstance(value, plain)}  # fmt: skip


class Placed(Observer):
    """Each of its methods is another one's, told once it is known where the program is."""


class OwnHooks:
    """Hooks: the engine reports its own."""

    def of_modules(self, modules: Any) -> None:
        """The engine reports them when they run."""

    def noticed(self, place: Any, handle: Any, node: Any) -> None:
        """The engine reports it."""


class OwnPasses:
    """Passes: so it does of these."""

    is_light = False

    def __init__(self) -> None:
        self.hooks = OwnHooks()


class OwnRecorder:
    """Puts an observer into the engine that knows where the program is."""

    def __init__(self, side: OwnSide, text: Text, observer: Observer) -> None:
        self.side, self.text, self.observer = side, text, observer
        self.passes = OwnPasses()
        self.optimizer: Any = ()
        self.causes: list[Any] = []
        self.defects = Defects()
        self.elsewhere: Any = None
        self.on_operation: Any = None
        self.on_parameter: Any = None
        self.on_pass: Any = None
        self.running = 0

    def is_apart(self) -> bool:
        """The engine reports to observers of its own thread."""
        return False

    def tells(self, listener: Any) -> None:
        """The engine reports refused passes by the errors that they end in."""

    def telling(self) -> nullcontext[None]:
        """An error in it is one of the engine."""
        return nullcontext()

    def explained(self, error: BaseException) -> list[Any]:
        """The engine's errors know their causes by themselves."""
        return self.causes

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Within it everything is reported."""
        before = state.observer, state.origin
        state.observer = self._placed()
        try:
            yield
        finally:
            state.observer, state.origin = before

    def _placed(self) -> Observer:
        """The observer, notified of each event once it is known where the program is."""
        placed, observer = Placed(), self.observer
        told = {event: self._standing(getattr(observer, event)) for event in EVENTS}
        told |= {"made": self._made, "started": self._started}
        told |= {event: self._ended(getattr(observer, event)) for event in ("walked", "failed")}
        vars(placed).update(told)
        return placed

    def _standing(self, tell: Callable[..., Any]) -> Callable[..., Any]:
        def told(*facts: Any) -> Any:
            if not self.running:
                self._stand(sys._getframe(1))
            return tell(*facts)

        return told

    def _stand(self, frame: Any) -> Any:
        spot = self.text.spot(frame)
        if spot.node is not None:
            state.origin = spot.node
        return spot

    def _made(self, tensor: Any) -> None:
        if self.running:
            self.observer.made(tensor)
            return
        spot = self._stand(sys._getframe(1))
        node = None if tensor is None else tensor._grad_fn
        if node is not None and spot.node is not None:
            node.origin = spot.node
        self.observer.made(tensor)
        if tensor is not None and self.on_operation is not None and not spot.is_reported:
            self.on_operation(spot.node, (), {}, tensor)

    def _started(self, *facts: Any) -> None:
        if not self.running:
            frame = sys._getframe(1)
            self._stand(frame)
            if self.on_pass is not None:
                self.on_pass(frame)
        self.running += 1
        self.observer.started(*facts)

    def _ended(self, tell: Callable[..., Any]) -> Callable[..., Any]:
        def told(*facts: Any) -> None:
            self.running -= 1
            tell(*facts)

        return told
