"""Live: code that torch.compile compiles must not find the recording in it: while such code is
called, the mode and the hooks of modules are put aside, and functions run their own code."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..engine.mode import state
from .own_code import OwnCode

DYNAMO = "torch._dynamo.eval_frame"  # is loaded by the first use
WRAPPER = "compile_wrapper"  # what stands for a compiled function


class CompiledRegions:
    """Puts a recorder aside. `hooks` are the handles of its hooks of modules."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.hooks: list[tuple[Any, int, Any]] = []  # their tables, numbers and functions
        self.held: Any = None
        self.frame: Any = None  # that began a region
        self.first_node = 0  # the number of the first that it may make
        self.plain: list[tuple[Any, str, Any]] = []  # what was replaced: owner, name, value
        self.code = OwnCode(recorder.text)

    @contextmanager
    def watching(self, handles: list[Any]) -> Iterator[None]:
        """Within it compiled code is noticed, also what is compiled within it."""
        torch = self.recorder.torch
        always = torch.nn.modules.module._global_forward_hooks_always_called
        tables = [(table, handle.id) for handle in handles
                  for table in (handle.hooks_dict_ref(), always) if handle.id in table]  # fmt: skip
        self.hooks = [(table, number, table[number]) for table, number in tables]
        self._replace(torch, "compile", self._compile)
        self._watch()
        try:
            yield
        finally:
            self.resume()
            for owner, name, value in reversed(self.plain):
                setattr(owner, name, value)
            self.plain.clear()

    def _replace(self, owner: Any, name: str, made: Callable[[Any], Any]) -> None:
        value = getattr(owner, name)
        self.plain.append((owner, name, value))
        setattr(owner, name, functools.wraps(value)(made(value)))

    def _watch(self) -> None:
        dynamo = sys.modules.get(DYNAMO)
        if dynamo is not None and not any(owner is dynamo for owner, *_ in self.plain):
            self._replace(dynamo, "_maybe_set_eval_frame", self._switch)
            self._replace(dynamo.OptimizedModule, "__call__", self._call)

    # ------------------------------------------------------------ what PyTorch calls

    def _compile(self, plain: Any) -> Any:
        def compile(*args: Any, **kwargs: Any) -> Any:
            found = plain(*args, **kwargs)
            self._watch()
            return found

        return compile

    def _switch(self, plain: Any) -> Any:
        """The frame that begins a region with a callback ends it too: others switch within it."""

        def switch(callback: Any) -> Any:
            caller = sys._getframe(1)
            if self.frame is caller:
                self.frame = None
                self.resume()
            elif self.held is None and callable(callback) and caller.f_code.co_name == WRAPPER:
                self.frame = caller
                self.recorder.stand(caller)
                self.pause()
            return plain(callback)

        return switch

    def _call(self, plain: Any) -> Any:
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            outer = self.held is None
            self.pause()
            try:
                result = plain(module, *args, **kwargs)
            finally:
                if outer:
                    self.resume()
            if outer:
                self.recorder.answered(args, result)
            return result

        return call

    # ------------------------------------------------------------ aside and back

    @property
    def is_running(self) -> bool:
        """Whether compiled code runs, or is compiled."""
        return self.held is not None

    def pause(self) -> None:
        """Nothing of the recording is there."""
        if self.held is None:
            self.held = self.recorder.side.no_functions()
            self.held.__enter__()
            self.first_node = self.recorder.side.clock()
            self.code.give()
            for table, number, _ in self.hooks:
                table.pop(number, None)

    def resume(self) -> None:
        """It is there again."""
        held, self.held = self.held, None
        if held is not None:
            held.__exit__(None, None, None)
            end = self.recorder.side.clock()
            if end > self.first_node:
                self.recorder.labels.unseen.append((self.first_node, end, state.origin))
            self.code.take()
            for table, number, hook in self.hooks:
                table[number] = hook
