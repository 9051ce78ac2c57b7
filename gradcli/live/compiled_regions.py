"""Live: code that torch.compile compiles must not find the recording in it: while such code is
called, what is planted in PyTorch is put aside, and functions run their own code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..engine.schema.mode import state
from ..named import NamedTuple
from .own_code import OwnCode
from .planted import Planted

DYNAMO = "torch._dynamo"  # is loaded by the first use, or by an optimizer
RULES = "torch._dynamo.trace_rules"
WRAPPERS = "compile_wrapper", "_fn"  # what stands for a compiled function; the latter in 2.6


def is_compiling() -> bool:
    """Whether PyTorch's compiler looks at a program, instead of running it."""
    guards: Any = sys.modules.get("torch._guards")
    return guards is not None and guards.TracingContext.try_get() is not None


def uncompiled(function: Any) -> Any:
    """The same function, which compiled code calls as it is."""
    return sys.modules[DYNAMO].disable(function)


class Trained(NamedTuple):
    """A parameter of an optimizer and its gradient, each with its version."""

    optimizer: Any
    parameter: Any
    version: int
    grad: Any
    grad_version: int


class CompiledRegions:
    """Puts a recorder aside while compiled code is called."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.held: Any = None
        self.frame: Any = None  # that began a region
        self.first_node = 0  # the number of the first that it may make
        self.trained: list[Trained] = []  # what the optimizers have, as it was seen last
        self.code = OwnCode(recorder.text)
        self.watched = Planted()  # what notices the regions
        self.stack = ExitStack()
        self.is_watching = self.is_early = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within it compiled code is noticed, also what is compiled within it."""
        self.is_early = RULES not in sys.modules
        with self.stack:
            self.stack.callback(self._forget_rules)
            self.stack.callback(self.resume)
            self._replace(self.recorder.torch, "compile", self._compile)
            self.watch()
            yield
        self.is_watching = False

    def _replace(self, *planted: Any) -> None:
        self.stack.enter_context(self.watched.replaced(*planted))

    def watch(self) -> None:
        """Notices regions, once the compiler is loaded."""
        dynamo: Any = sys.modules.get(DYNAMO)
        if dynamo is not None and not self.is_watching:
            self.is_watching, dynamo = True, dynamo.eval_frame
            self._replace(dynamo, "_maybe_set_eval_frame", self._switch)
            self._replace(dynamo.OptimizedModule, "__call__", self._call)

    def _forget_rules(self) -> None:
        """A compiler that is loaded within a recording has noted its rules by the functions that
        are there then: it looks for PyTorch's own once more."""
        rules: Any = sys.modules.get(RULES)
        if self.is_early and rules is not None:
            self.is_early = False
            rules.clear_lru_cache()

    # ------------------------------------------------------------ what PyTorch calls

    def _compile(self, plain: Any) -> Any:
        link = self.recorder.link

        def compile(*args: Any, **kwargs: Any) -> Any:
            found = plain(*args, **kwargs)
            if (recorder := link.hearing()) is not None:
                recorder.compiled.watch()
            return found

        return compile

    def _switch(self, plain: Any) -> Any:
        link = self.recorder.link

        def switch(callback: Any) -> Any:
            recorder = link.hearing()
            if recorder is None:
                return plain(callback)
            return recorder.compiled.switched(sys._getframe(1), plain, callback)

        return switch

    def switched(self, caller: Any, plain: Any, callback: Any) -> Any:
        """The frame that begins a region with a callback ends it too: others switch within it."""
        if self.frame is caller:
            self.frame, found = None, plain(callback)  # from here on no compiler looks on
            self.resume()
            return found
        if self.held is None and callable(callback) and caller.f_code.co_name in WRAPPERS:
            self.frame = caller
            self.recorder.stand(caller)
            self.pause()
        return plain(callback)

    def _call(self, plain: Any) -> Any:
        link = self.recorder.link

        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            recorder = link.hearing()
            if recorder is None:
                return plain(module, *args, **kwargs)
            return recorder.compiled.called(sys._getframe(1), plain, module, args, kwargs)

        return call

    def called(
        self, caller: Any, plain: Any, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A compiled module."""
        outer = self.held is None
        if outer:
            self.recorder.stand(caller)
        self.pause()
        try:
            result = plain(module, *args, **kwargs)
        finally:
            if outer:
                self.resume()
        if outer:
            self.recorder.answered(args, result, caller)
        return result

    # ------------------------------------------------------------ aside and back

    def pause(self) -> None:
        """Nothing of the recording is there."""
        if self.held is not None:
            return
        side = self.recorder.side
        self.held = side.no_functions()
        self.held.__enter__()
        self.code.give()
        self.recorder.planted.put_aside()
        self._forget_rules()
        self.first_node = side.clock()
        self.look()

    def resume(self) -> None:
        """It is there again."""
        held, self.held = self.held, None
        if held is None:
            return
        recorder = self.recorder
        held.__exit__(None, None, None)
        self.code.take()
        recorder.planted.put_back()
        with recorder.telling():
            end = recorder.side.clock()
            if end > self.first_node:
                recorder.labels.unseen.append((self.first_node, end, state.origin))
            self.tell()

    # ------------------------------------------------------------ optimizers in such code

    def look(self) -> None:
        """Notes the parameters of the optimizers, and their gradients, as they are now."""
        self.trained = [
            Trained(optimizer, tensor, tensor._version, grad, -1 if grad is None else grad._version)
            for optimizer in self.recorder.optimizers
            for group in optimizer.param_groups for tensor in group["params"]
            for grad in (tensor.grad,)
        ]  # fmt: skip

    @contextmanager
    def told(self) -> Iterator[None]:
        """Within it a pass goes on, maybe in a region: what was changed before it is told first."""
        if self.held is None:
            yield
            return
        with self.recorder.telling():
            self.tell()
        yield
        self.look()

    def tell(self) -> None:
        """Tells what has changed since: the optimizer of changed parameters has stepped."""
        observer, changed = self.recorder.observer, self.recorder.operations.changed
        stepped = [one for one in self.trained if one.parameter._version != one.version]
        for optimizer in {id(one.optimizer): one.optimizer for one in stepped}.values():
            observer.stepping(optimizer)
        for one in stepped:
            changed(one.parameter)
        for _, parameter, _, then, version in self.trained:
            if parameter.grad is not then:
                observer.assigned(parameter, parameter.grad)
            elif then is not None and then._version != version:
                changed(then)
        self.trained = []
