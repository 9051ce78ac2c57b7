"""Live: reports what PyTorch does to an observer, as the engine would.

A function mode sees every operation, hooks of modules and parameters, and while a pass runs,
hooks of its nodes. All of it is gone when the recording ends; nothing of it changes a number.
"""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from weakref import ref

from ..diagnostics import Enough
from ..engine.mode import state
from ..engine.observer import Observer
from .causes import Change
from .labels import Labels
from .passes import OF_MODULES, PassTeller
from .side import TorchSide
from .text import Text

# Read off a tensor without its values: nothing is created, nothing is reported.
QUIET = frozenset(
    "requires_grad shape grad_fn is_leaf device dtype ndim layout retains_grad output_nr _version "
    "_base names itemsize nbytes is_sparse is_cuda is_quantized is_meta is_nested".split()
)
# Numbers of a tensor's shape and memory, and its text: none of them came from its elements.
SHAPES = frozenset(
    "size dim ndimension numel nelement stride storage_offset data_ptr element_size get_device "
    "is_floating_point is_complex is_contiguous __len__ __repr__ __format__ type".split()
)
PRINTING = frozenset({"__repr__", "__format__"})  # asks a view of a changed tensor for its node
# What gives the memory of a tensor away: who has it can change elements and no version.
SHARING = frozenset({"numpy", "__array__", "data_ptr", "untyped_storage", "__dlpack__", "set_"})
CHANGING = frozenset({"batch_norm", "instance_norm", "__set__"})
MOST = 100_000  # parameters that are known
# Modules that run other kernels where a mode looks on, while gradients are off.
FAST = frozenset({"TransformerEncoder", "TransformerEncoderLayer", "MultiheadAttention"})


class Recorder:
    """One recording of PyTorch in this thread."""

    def __init__(self, side: TorchSide, text: Text, observer: Observer) -> None:
        self.side, self.text, self.observer = side, text, observer
        self.torch = side.torch
        self.changes: deque[Change] = deque(maxlen=1000)
        self.causes: list[Any] = []  # of the error of the pass that failed last
        self.registered: dict[int, ref[Any]] = {}  # parameters, by their identity
        self.defects: list[Exception] = []  # our own, which never reach the program
        self.labels = Labels(self)
        self.passes = PassTeller(self)
        self.setters = {name: getattr(self.torch.Tensor, name).__set__
                        for name in ("grad", "data", "requires_grad")}  # fmt: skip
        self.deleting = self.torch.Tensor.grad.__delete__
        self._held_off: list[Any] = []
        self.optimizer: Any = sys.modules["torch.optim.optimizer"].Optimizer
        self.elsewhere: Any = None  # the origin of nodes that a pass finds, unreported before
        self.on_operation: Any = None  # called with each, where nothing else reports expressions
        self.on_parameter: Any = None  # called with each that a module is given
        self.on_pass: Any = None  # notified of the frame that a pass is called from
        self.on_refused: Any = None  # notified of a pass that could not begin
        self.on_switched: Any = None  # notified of each tensor whose requires_grad was set
        self.tape: Any = None  # makes the calls of PyTorch itself, to keep how they were made
        self.stepping: Any = None  # what an optimizer is about to change, while it steps
        self.on_cut: Any = None  # asked whether operands came from a value, and not by the graph

    def tells(self, listener: Any) -> None:
        """A listener is told of expressions, and of what only the recorder sees."""
        self.on_refused, self.on_switched = listener.refused_pass, listener.switched
        self.on_cut = listener.has_cut

    # ------------------------------------------------------------ on and off

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Within it everything is reported."""
        before = state.origin
        with ExitStack() as stack:
            stack.callback(setattr, state, "origin", before)
            stack.callback(self.labels.settle)
            stack.enter_context(self.passes.listening())
            stack.enter_context(self._modules())
            stack.enter_context(self._hooks_of_modules())
            stack.enter_context(self._functions())
            stack.enter_context(self._optimizers())
            stack.enter_context(self.mode())
            yield

    def mode(self) -> Any:
        """What sees each operation within it."""
        heard = self._heard

        class Mode(self.torch.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
            """Hands every operation on."""

            def __torch_function__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                return heard(function, args, kwargs or {})

        return Mode()

    @contextmanager
    def _modules(self) -> Iterator[None]:
        hooks = self.torch.nn.modules.module
        handles = [
            hooks.register_module_forward_pre_hook(self._entering),
            hooks.register_module_forward_hook(self._leaving, always_call=True),
            hooks.register_module_parameter_registration_hook(self._parameter),
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    @contextmanager
    def _hooks_of_modules(self) -> Iterator[None]:
        """What registers the hooks that a pass calls of a module."""
        kind = self.torch.nn.Module
        plain = {name: getattr(kind, name) for name in OF_MODULES}
        for name, method in plain.items():
            setattr(kind, name, self._registering(OF_MODULES[name], method))
        try:
            yield
        finally:
            for name, method in plain.items():
                setattr(kind, name, method)

    def _registering(self, word: str, method: Any) -> Any:
        def register(*given: Any, **named: Any) -> Any:
            handle = method(*given, **named)
            self.stand(sys._getframe(1))
            self.passes.of_module(word, handle)
            return handle

        return functools.wraps(method)(register)

    def _entering(self, module: Any, given: Any) -> None:
        self.stepping = None  # an error has ended that step
        self.observer.entering(module)
        self.labels.modules.append(module)
        kind = type(module)
        held = None
        if kind.__name__ in FAST and not module.training and not self.side.switched():
            held = self.side.hands_off()
            held.__enter__()
        self.deleting = self.torch.Tensor.grad.__delete__
        self._held_off.append(held)

    def _leaving(self, module: Any, given: Any, result: Any) -> None:
        held = self._held_off.pop() if self._held_off else None
        if held is not None:
            held.__exit__(None, None, None)
        self.labels.modules.pop()
        self.observer.leaving(module)
        if self.on_operation is not None and not self.labels.modules and result is not None:
            self._answered(given, result)

    def _answered(self, given: tuple[Any, ...], result: Any) -> None:
        """The outermost module that the program called: what went on in it was not told."""
        spot = self.text.spot(sys._getframe(2))
        if spot.node is None or spot.is_reported or self.passes.running or self.side.transform():
            return
        try:
            with self.side.hands_off():
                self.on_operation(spot.node, given, {}, result)
        except Enough:
            raise
        except Exception as error:  # our defect: the program goes on
            self.defects.append(error)

    def _parameter(self, module: Any, name: str, parameter: Any) -> None:
        if parameter is not None:
            self.stand(sys._getframe(1))
            known = self.registered.get(id(parameter))
            if known is None or known() is not parameter:
                if len(self.registered) >= MOST:
                    self.registered.clear()
                self.registered[id(parameter)] = ref(parameter)
                self.observer.parameter(parameter)
            if self.on_parameter is not None:
                self.on_parameter(parameter)

    @contextmanager
    def _functions(self) -> Iterator[None]:
        """Functions with a derivative of their own go past the mode."""
        kind, stand, told = self.torch.autograd.Function, self.stand, self._tell_new
        taped = self._taped
        plain = kind.__dict__["apply"]

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            spot = stand(sys._getframe(1))
            call = spot.call if self.tape is None else taped(spot)
            result = call(plain.__get__(None, cls), args, kwargs)
            stand(sys._getframe(1))
            if not self.passes.running:
                with self.side.hands_off():
                    told(result)
            return result

        kind.apply = classmethod(apply)
        try:
            yield
        finally:
            kind.apply = plain

    @contextmanager
    def _optimizers(self) -> Iterator[None]:
        """What an optimizer is given, and when it steps."""
        module = sys.modules["torch.optim.optimizer"]
        kind, observer = self.optimizer, self.observer
        plain = kind.add_param_group

        def add_param_group(optimizer: Any, group: Any) -> Any:
            self.stand(sys._getframe(1))
            found = plain(optimizer, group)
            observer.optimizing(optimizer, optimizer.param_groups[-1]["params"])
            return found

        def stepping(optimizer: Any, args: Any, kwargs: Any) -> None:
            observer.stepping(optimizer)
            if not any(given is not None for given in (*args[1:], *kwargs.values())):
                self._step_begins(optimizer)

        def stepped(optimizer: Any, args: Any, kwargs: Any) -> None:
            self._step_ends()

        kind.add_param_group = functools.wraps(plain)(add_param_group)
        handles = (module.register_optimizer_step_pre_hook(stepping),
                   module.register_optimizer_step_post_hook(stepped))  # fmt: skip
        try:
            yield
        finally:
            kind.add_param_group = plain
            for handle in handles:
                handle.remove()

    def _step_begins(self, optimizer: Any) -> None:
        """Without a closure no code of the program runs in a step of PyTorch's own optimizers: what
        it changes is reported at its end, not operation by operation."""
        if not type(optimizer).__module__.startswith("torch.optim."):
            return
        self.stand(sys._getframe(2))
        held = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        held += [tensor.grad for tensor in held if tensor.grad is not None]
        self.stepping = None
        with self.side.hands_off():
            self.stepping = self._versions(tuple(held), {})

    def _step_ends(self) -> None:
        changed, self.stepping = self.stepping, None
        with self.side.hands_off():
            for tensor, version in changed or ():
                if tensor._version != version:
                    self._changed(tensor)

    # ------------------------------------------------------------ operations

    def stand(self, frame: Any) -> Any:
        """Where the program is from here on."""
        spot = self.text.spot(frame)
        if spot.node is not None:
            state.origin = spot.node
        return spot

    def _heard(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.stepping is not None:
            return function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        if name == "__get__":
            attribute = getattr(function.__self__, "__name__", "")
            if attribute in QUIET:
                if attribute == "grad_fn":
                    self.passes.capturing.is_off = True  # the program may put hooks on its nodes
                    return self._requested_node(function, args)
                return function(*args, **kwargs)
            if attribute == "data":
                self._shared(args)
        elif name in SHARING:
            self._shared(args)
        if self.passes.running:
            return self._within_pass(name, function, args, kwargs)
        if self.side.transform() is not None:
            return self._transformed(function, args, kwargs)
        spot = self.stand(sys._getframe(2))
        changing = name in CHANGING or name.endswith("_") or "out" in kwargs
        # relu(x, inplace=True), dropout(x, 0.5, True, True)
        changing = changing or kwargs.get("inplace", False)
        if not changing and args and args[-1] is True:
            changing = "inplace" in getattr(getattr(function, "__code__", None), "co_varnames", ())
        before = self._versions(args, kwargs) if changing else ()
        if name in ("__set__", "__delete__"):
            self._setting(function, args)
        if name == "backward":
            return self._backward(spot, function, args, kwargs)
        call = spot.call if self.tape is None else self._taped(spot)
        result = call(function, args, kwargs)
        state.origin = spot.node or state.origin
        try:
            self._done(spot, function, args, kwargs, result, before)
        except Enough:
            raise
        except Exception as error:  # our defect: the program goes on
            self.defects.append(error)
        return result

    def _taped(self, spot: Any) -> Any:
        """What makes a call, and keeps how it was made."""
        return functools.partial(self.tape.call, spot.call)

    def _done(
        self, spot: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any,
        before: Sequence[tuple[Any, int]],
    ) -> None:  # fmt: skip
        """Tells of an operation: what it changed, what it made."""
        name = getattr(function, "__name__", "")
        for tensor, version in before:
            if not tensor.is_inference() and tensor._version != version:
                self._changed(tensor)
        if name in PRINTING:
            self._tell_new(args[0])
        elif self._tell_new(result):
            self._used(name, result, args)
        switching = name == "requires_grad_" or function == self.setters["requires_grad"]
        leaf = args[0] if switching else result
        if isinstance(leaf, self.side.tensor) and self._is_leaf(leaf):
            self.observer.required(leaf)
        if self.on_switched is not None and switching:
            self.on_switched(state.origin, args[0], args[0].requires_grad)
        if self.on_operation is not None and self._is_unreported(spot, name, args, result):
            with self.side.hands_off():
                self.on_operation(spot.node, args, kwargs, result)
        if name == "retain_grad" and (node := self.side.node(args[0])) is not None:
            self.side.mark(node).retains = True
        if name.startswith("register_") and name.endswith("hook"):
            self.passes.registered(name, args, result)

    def _is_unreported(self, spot: Any, name: str, args: tuple[Any, ...], result: Any) -> bool:
        """Whether nothing else reports an operation: where the program's code reports itself,
        or a module of a library is called: one that goes on with what has left the graph."""
        if name in SHAPES and not isinstance(result, self.side.tensor):  # as type(dtype) gives
            return False
        if not spot.is_reported and not self.labels.modules:
            return True
        return self.on_cut is not None and self.on_cut(args, result)

    def _within_pass(
        self, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Of what hooks of the program do, only setting a gradient is reported."""
        if name in ("__set__", "__delete__"):
            before = state.origin
            self.stand(sys._getframe(3))
            self._setting(function, args)
            state.origin = before
        return function(*args, **kwargs)

    def _backward(
        self, spot: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A pass that can't begin is reported as well."""
        try:
            return spot.call(function, args, kwargs)
        except RuntimeError as error:
            shaped = "created only for scalar outputs" in str(error)
            if self.on_refused is not None and (shaped or "does not require grad" in str(error)):
                self.on_refused(state.origin, args[0], shaped=shaped)
            raise

    def _transformed(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Within vmap and grad of torch.func tensors stand for others: only places are noted."""
        spot = self.stand(sys._getframe(3))
        return spot.call(function, args, kwargs)

    def _versions(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Any, int]]:
        """The tensors that a call may change, and how often they were changed before."""
        kind, found = self.side.tensor, []
        for value in (*args, *kwargs.values()):
            for tensor in value if isinstance(value, (list, tuple)) else (value,):
                if not isinstance(tensor, kind) or hasattr(type(tensor), "materialize"):
                    continue  # a lazy module's parameter is nothing yet
                if not tensor.is_inference():
                    self._changing(tensor)
                    found.append((tensor, tensor._version))
        return found

    def _changing(self, tensor: Any) -> None:
        """What is held as it is and lies in the same memory is looked at now."""
        self.side.about_to_change(tensor)
        self.observer.changing(tensor)

    def _changed(self, tensor: Any) -> None:
        """A tensor has new values; it, and what it is a view of, may have a new node."""
        self.changes.append(Change.of(tensor, state.origin))
        self.observer.changed(tensor)
        self._tell_new(tensor)
        if tensor._base is not None:
            self._tell_new(tensor._base)

    def _requested_node(self, function: Any, args: tuple[Any, ...]) -> Any:
        """A view of a tensor changed in place gets its new node on demand."""
        node = function(*args)
        if node is not None and not self.passes.running and self.side.transform() is None:
            self.stand(sys._getframe(3))
            self.labels.label(node)
        return node

    def _shared(self, args: tuple[Any, ...]) -> None:
        """From here on elements may change and no version reports it."""
        self.side.is_shared = True
        tensor = args[0] if args else None
        if isinstance(tensor, self.side.tensor) and not hasattr(type(tensor), "materialize"):
            self._changing(tensor)

    def _setting(self, function: Any, args: tuple[Any, ...]) -> None:
        if function == self.deleting:
            self.observer.assigned(args[0], None)
        if function == self.setters["grad"] and len(args) == 2:
            tensor, value = args
            if value is not None and not isinstance(value, self.side.tensor):
                return  # PyTorch refuses it
            if value is None or (value.shape, value.dtype) == (tensor.shape, tensor.dtype):
                self.observer.assigned(tensor, value)

    def _is_leaf(self, tensor: Any) -> bool:
        """Whether gradients are for it."""
        try:
            return bool(tensor.requires_grad and tensor.is_leaf)
        except RuntimeError:  # a view that PyTorch no longer lets anyone use
            return False

    def _used(self, name: str, result: Any, args: tuple[Any, ...]) -> None:
        """Tells the inputs of a new node, where the arguments are those that it has edges for."""
        kind = self.side.tensor
        if all(isinstance(value, kind) and value.requires_grad for value in args):
            return
        node = self.side.node(result)
        edges = [edge for edge, _ in node.next_functions]
        if None not in edges:
            return
        inputs = args
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            inputs = tuple(args[0])
        elif name == "linear" and len(args) == 3:  # which calls addmm(bias, input, weight.t())
            inputs = args[2], args[0], args[1]
        inputs = inputs[: len(edges)]
        tracked = [isinstance(value, kind) and value.requires_grad for value in inputs]
        if tracked == [edge is not None for edge in edges]:
            self.observer.used(node, inputs, result)

    def _tell_new(self, result: Any, fresh: list[Any] | None = None) -> bool:
        """Tells the tensors of a result that are new in the graph; whether it is one itself."""
        if isinstance(result, self.side.tensor):
            node = self.side.node(result)
            if node is None:
                return False
            if self.labels.label(node):
                if fresh is not None:
                    fresh.append(node)
                self.observer.made(result)
                return True
            if fresh and any(node is one for one in fresh):  # one more output of it
                self.observer.made(result)
        elif isinstance(result, (tuple, list)):
            fresh = [] if fresh is None else fresh
            for item in result:
                self._tell_new(item, fresh)
        return False
