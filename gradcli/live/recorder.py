"""Live: reports what PyTorch does to an observer, as the engine would.

A function mode sees every operation, hooks of modules and parameters, and while a pass runs,
hooks of its nodes. All of it is gone when the recording ends; nothing of it changes a number.
"""

from __future__ import annotations

import functools
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import get_ident
from typing import Any, ClassVar
from weakref import WeakSet, ref

from ..diagnostics import Enough
from ..engine.graph.observer import Observer
from ..engine.schema.mode import state
from .causes import Change, Refusal
from .compiled_regions import CompiledRegions
from .defects import Defects
from .labels import Labels
from .operations import Operations
from .passes import PassTeller
from .planted import Link, Planted
from .registered import OF_MODULES
from .side import TorchSide
from .text import Text

MOST = 100_000  # parameters that are known
PACKING = {"_push_saved_tensors_default_hooks": 1, "_pop_saved_tensors_default_hooks": -1}
CHANGES = -1  # the version of a tensor that is changed by a kernel which does not raise it
OWN_HOOKS = 2  # of optimizers, before and after a step
# Modules that run other kernels where a mode looks on, while gradients are off.
FAST = frozenset({"TransformerEncoder", "TransformerEncoderLayer", "MultiheadAttention"})


class Recorder:
    """One recording of PyTorch in this thread."""

    threads: ClassVar[Counter[int]] = Counter()  # those that have recordings, and how many

    def __init__(self, side: TorchSide, text: Text, observer: Observer) -> None:
        self.side, self.text, self.observer = side, text, observer
        self.torch = side.torch
        text.libraries += (os.path.dirname(side.torch.__file__),)
        self.changes: deque[Change] = deque(maxlen=1000)
        self.causes: list[Any] = []  # of the error of the pass that failed last
        self.refusal: Refusal | None = None  # by the operation that failed last
        self.registered: dict[int, ref[Any]] = {}  # parameters, by their identity
        self.defects = Defects()  # our own, which never reach the program
        self.labels = Labels(self)
        self.passes = PassTeller(self)
        self.operations = Operations(self)
        self.planted, self.link = Planted(), Link(self)
        self.compiled = CompiledRegions(self)
        self.optimizers: WeakSet[Any] = WeakSet()
        self._held_off: list[tuple[int, Any]] = []  # how many modules are running, and what ends it
        self.optimizer: Any = sys.modules["torch.optim.optimizer"].Optimizer
        self.thread = get_ident()
        self.elsewhere: Any = None  # the origin of nodes that a pass finds, unreported before
        self.on_operation: Any = None  # called with each, where nothing else reports expressions
        self.on_parameter: Any = None  # called with each that a module is given
        self.on_pass: Any = None  # notified of the frame that a pass or a step is called from
        self.on_refused: Any = None  # notified of a pass that could not begin
        self.on_switched: Any = None  # notified of each tensor whose requires_grad was set
        self.tape: Any = None  # makes the calls of PyTorch itself, to keep how they were made
        self.stepping: Any = None  # what an optimizer is about to change, while it steps
        self.deaf: Any = None  # what keeps the mode from hearing its operations
        self.on_cut: Any = None  # asked whether operands came from a value, and not by the graph

    def tells(self, listener: Any) -> None:
        """A listener is told of expressions, and of what only the recorder sees."""
        self.on_refused, self.on_switched = listener.refused_pass, listener.switched
        self.on_cut = listener.has_cut

    def explained(self, error: BaseException) -> list[Any]:
        """Places that explain an error of the program, with what is said of them."""
        return self.causes or ([] if self.refusal is None else self.refusal.causes_of(error))

    # ------------------------------------------------------------ on and off

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Within it everything is reported."""
        before, self.thread = state.origin, get_ident()
        self.link.recorder = self  # a question may go back once more
        self.threads[self.thread] += 1
        with ExitStack() as stack:
            stack.callback(self.threads.subtract, (self.thread,))
            stack.callback(setattr, state, "origin", before)
            stack.callback(self.side.forget)
            stack.callback(self.end_step)
            stack.callback(setattr, self.link, "recorder", None)
            stack.callback(self.labels.settle)
            stack.enter_context(self.passes.listening())
            self._plant(stack)
            stack.enter_context(self.compiled.watching())
            mode = self.operations.mode()
            mode.__enter__()
            stack.callback(self._without, mode)
            yield

    def is_apart(self) -> bool:
        """Whether this is another thread, with a recording of its own."""
        thread = get_ident()
        return thread != self.thread and self.threads[thread] > 0

    def _without(self, mode: Any) -> None:
        """PyTorch leaves the innermost mode, which may be that of a later recording."""
        overrides = self.torch.overrides
        if all(one is not mode for one in overrides._get_current_function_mode_stack()):
            return
        above = []
        while (one := overrides._pop_mode()) is not mode:
            above.append(one)
        for one in reversed(above):
            overrides._push_mode(one)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """What goes wrong in telling within it is our defect: the program goes on."""
        try:
            with self.side.hands_off():
                yield
        except Enough:
            raise
        except Exception as error:
            self.defects.append(error)

    def tell(self, tell: Callable[..., None], *facts: Any) -> None:
        """The same for a single report, which looks at no tensor of the program."""
        try:
            tell(*facts)
        except Enough:
            raise
        except Exception as error:
            self.defects.append(error)

    def stand(self, frame: Any) -> Any:
        """Where the program is from here on."""
        spot = self.text.spot(frame)
        if spot.node is not None:
            state.origin = self.passes.place(spot.node) if self.passes.running else spot.node
        self.labels.elsewhere = spot.elsewhere
        return spot

    def _plant(self, stack: ExitStack) -> None:
        """What PyTorch calls while this is recorded."""
        planted, modules = self.planted, self.torch.nn.modules.module
        optimizers = sys.modules["torch.optim.optimizer"]
        stack.enter_context(planted.hooked(
            modules.register_module_forward_pre_hook(self._entering),
            modules.register_module_forward_hook(self._leaving, always_call=True),
            modules.register_module_parameter_registration_hook(self._parameter),
            optimizers.register_optimizer_step_pre_hook(self._stepping),
            optimizers.register_optimizer_step_post_hook(self._stepped),
        ))  # fmt: skip
        for name, word in OF_MODULES.items():  # the hooks that a pass calls of a module
            made = functools.partial(self._registering, word)
            stack.enter_context(planted.replaced(self.torch.nn.Module, name, made))
        function = self.torch.autograd.Function
        stack.enter_context(planted.replaced(function, "apply", self._applying))
        stack.enter_context(planted.replaced(self.optimizer, "add_param_group", self._adding))
        step = self.torch.autograd.profiler.record_function  # stands around each
        stack.enter_context(planted.replaced(step, "__exit__", self._leaving_step))
        # What vmap gives are views, which its C++ code makes.
        vmap = sys.modules["torch._functorch.vmap"]
        stack.enter_context(planted.replaced(vmap, "_unwrap_batched", self._leaving_vmap))
        if self.labels.packs is None:
            for name, by in PACKING.items():
                made = functools.partial(self.labels.counting, by)
                stack.enter_context(planted.replaced(self.torch._C._autograd, name, made))

    def _registering(self, word: str, method: Any) -> Any:
        link = self.link

        def register(*given: Any, **named: Any) -> Any:
            handle = method(*given, **named)
            if (recorder := link.hearing()) is not None:
                recorder.stand(sys._getframe(1))
                recorder.passes.hooks.of_module(word, handle)
            return handle

        return register

    def _entering(self, module: Any, given: Any) -> None:
        if get_ident() != self.thread:
            return
        if self.stepping is not None:
            self.end_step()  # by an error
        frame = sys._getframe(1)
        spot = self.stand(frame)
        self.tell(self.observer.entering, module)
        self.labels.modules.append(module)
        self.text.callers.append((frame, spot))
        if type(module).__name__ in FAST and not module.training and not self.side.switched():
            held = self.side.hands_off()
            held.__enter__()
            self._held_off.append((len(self.labels.modules), held))

    def _leaving(self, module: Any, given: Any, result: Any) -> None:
        if get_ident() != self.thread:
            return
        modules, held_off = self.labels.modules, self._held_off
        if held_off and held_off[-1][0] == len(modules):
            held_off.pop()[1].__exit__(None, None, None)
        modules.pop()
        self.text.callers.pop()
        self.tell(self.observer.leaving, module)
        if modules:
            return
        if self.on_operation is not None and result is not None:
            self.answered(given, result, sys._getframe(1))
        else:
            self.stand(sys._getframe(1))

    def answered(self, given: tuple[Any, ...], result: Any, frame: Any) -> None:
        """The outermost module that the program called: what went on in it was not told."""
        spot = self.stand(frame)
        if spot.node is None or self.passes.running or self.side.transform():
            return
        with self.telling():
            self.operations.tell_new(result)
            if self.on_operation is not None and not spot.is_reported:
                self.on_operation(spot.node, given, {}, result)

    def _parameter(self, module: Any, name: str, parameter: Any) -> None:
        if parameter is not None and not self.is_apart():
            self.stand(sys._getframe(1))
            known = self.registered.get(id(parameter))
            if known is None or known() is not parameter:
                if len(self.registered) >= MOST:
                    self.registered.clear()
                self.registered[id(parameter)] = ref(parameter)
                with self.telling():
                    self.observer.parameter(parameter)
            if self.on_parameter is not None:
                with self.telling():
                    self.on_parameter(parameter)

    def _applying(self, plain: Any) -> Any:
        """Functions with a derivative of their own go past the mode."""
        link = self.link

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            recorder, call = link.hearing(), plain.__get__(None, cls)
            if recorder is None:
                return call(*args, **kwargs)
            return recorder.applied(sys._getframe(1), call, args, kwargs)

        return classmethod(apply)

    def applied(self, frame: Any, apply: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a Function of the program gives."""
        before, is_within = state.origin, self.passes.running
        spot = self.stand(frame)
        call = spot.call if self.tape is None else self.operations.taped(spot)
        result = call(apply, args, kwargs)
        self.stand(frame)
        if not is_within or self.side.switched():
            with self.telling():
                self.operations.tell_new(result)
        if is_within:
            state.origin = before
        return result

    def _leaving_vmap(self, plain: Any) -> Any:
        link = self.link

        def unwrap(*given: Any) -> Any:
            result = plain(*given)
            if (recorder := link.hearing()) is not None:
                recorder.stand(sys._getframe(1))
                with recorder.telling():
                    recorder.operations.tell_new(result)
            return result

        return unwrap

    def _adding(self, plain: Any) -> Any:
        """What an optimizer is given."""
        link = self.link

        def add_param_group(optimizer: Any, group: Any) -> Any:
            recorder = link.hearing()
            if recorder is None:
                return plain(optimizer, group)
            recorder.stand(_maker(optimizer, sys._getframe(1)))
            found = plain(optimizer, group)
            recorder.optimizing(optimizer, optimizer.param_groups[-1]["params"])
            return found

        return add_param_group

    def _leaving_step(self, plain: Any) -> Any:
        """An error ends a step before the hook that would."""
        link = self.link

        def leave(block: Any, *raised: Any) -> Any:
            if raised[0] is not None and (recorder := link.hearing()) is not None:
                recorder._step_ends()
            return plain(block, *raised)

        return leave

    def optimizing(self, optimizer: Any, parameters: Any) -> None:
        """It is to change these."""
        self.optimizers.add(optimizer)
        self.tell(self.observer.optimizing, optimizer, parameters)

    def _stepping(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self.is_apart():
            return
        with self.telling():
            self.observer.stepping(optimizer)
        if self.on_pass is not None and not self.passes.running:
            self.on_pass(sys._getframe(1))
        if not any(given is not None for given in (*args[1:], *kwargs.values())):
            self._step_begins(optimizer)

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self.is_apart():
            self._step_ends()

    def _step_begins(self, optimizer: Any) -> None:
        """Without a closure no code of the program runs in a step of PyTorch's own optimizers: what
        it changes is reported at its end, not operation by operation."""
        if not type(optimizer).__module__.startswith("torch.optim."):
            return
        self.stand(sys._getframe(2))
        self.end_step()
        held = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        with self.telling():
            grads = [tensor.grad for tensor in held]
            held += [grad for grad in grads if grad is not None]
            self.stepping = self.operations.versions(tuple(held), {})
            fused = {id(tensor) for group in optimizer.param_groups if group.get("fused")
                     for tensor in group["params"] if tensor.grad is not None}  # fmt: skip
            if fused:
                self.side.is_shared = True
                self.stepping = [(tensor, CHANGES if id(tensor) in fused else version)
                                 for tensor, version in self.stepping]  # fmt: skip
        if self._is_alone(optimizer) and self.operations.plain.issuperset(map(type, held)):
            self.deaf = self.side.no_functions()
            self.deaf.__enter__()

    def _is_alone(self, optimizer: Any) -> bool:
        """Whether only the recording listens to a step: no hook and no mode of the program."""
        module = sys.modules["torch.optim.optimizer"]
        hooks = (
            *optimizer._optimizer_step_pre_hooks,
            *optimizer._optimizer_step_post_hooks,
            *module._global_optimizer_pre_hooks,
            *module._global_optimizer_post_hooks,
        )
        return len(hooks) == OWN_HOOKS and self.operations.others() == 1

    def end_step(self) -> Any:
        """The step is over; what it was about to change."""
        changed, self.stepping = self.stepping, None
        deaf, self.deaf = self.deaf, None
        if deaf is not None:
            deaf.__exit__(None, None, None)
        return changed

    def _step_ends(self) -> None:
        changed = self.end_step()
        with self.telling():
            for tensor, version in changed or ():
                if tensor._version != version:
                    self.operations.changed(tensor)


def _maker(made: Any, frame: Any) -> Any:
    """The frame that makes an object, outside of what its class does for that."""
    while frame.f_back is not None and frame.f_code.co_varnames[:1] != ():
        if frame.f_locals.get(frame.f_code.co_varnames[0]) is not made:
            break
        frame = frame.f_back
    return frame
