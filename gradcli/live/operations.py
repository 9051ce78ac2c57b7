"""Live: what PyTorch's operations make and change, as a function mode tells it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..diagnostics import Enough
from ..engine.schema.mode import state
from ..engine.tensors import metadata
from ..language.tracing import Inner
from .again import LOST
from .causes import SCALAR, Change, Refusal

if TYPE_CHECKING:
    from .recorder import Recorder

QUIET = metadata.ATTRIBUTES | {"_base", "names"}  # nothing is created, nothing is reported
PRINTING = frozenset({"__repr__", "__format__"})  # asks a view of a changed tensor for its node
# Numbers of a tensor's shape and memory, and its text: none of them came from its elements.
SHAPES = metadata.METHODS | PRINTING | {"__len__", "type"}
# What gives the memory of a tensor away: who has it can change elements and no version.
SHARING = frozenset({"numpy", "__array__", "data_ptr", "untyped_storage", "__dlpack__", "set_"})
# Begin the names of operations that change their first argument, and no version.
FUSED = "_fused_", "_amp_foreach_"
CHANGING = frozenset({"batch_norm", "instance_norm", "__set__"})
OTHERS = SHARING | CHANGING | PRINTING | {"__delete__", "backward", "retain_grad"}
# How much there is to tell of a function: nothing, what it makes, more than that.
SILENT, PLAIN, SPECIAL, REPLACED = range(4)  # the last by the program, with its own function
MOST = 10_000  # functions whose sort is known
NOTHING: dict[str, Any] = {}
NOWHERE = (None, 0)  # an edge of an input without a gradient


class Operations:
    """What is heard of them, for one recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder, self.side, self.text = recorder, recorder.side, recorder.text
        self.labels, self.observer = recorder.labels, recorder.observer
        self.defects = recorder.defects
        tensor = recorder.torch.Tensor
        self.set_grad, self.delete_grad = tensor.grad.__set__, tensor.grad.__delete__
        self.set_data = tensor.data.__set__
        self.set_requires_grad = tensor.requires_grad.__set__
        self.sorts: dict[Any, int] = {}  # by the function
        self.plain = {tensor, recorder.torch.nn.Parameter}  # classes that observe nothing
        self.others = recorder.torch._C._len_torch_function_stack  # of modes of the program

    def mode(self) -> Any:
        """What sees each operation within it."""
        torch, recorder, side = self.recorder.torch, self.recorder, self.side
        sorts, special, sort_of, made = self.sorts, self._special, self._sort, self._made
        original = self._original
        passes, plain, others, spot_of = recorder.passes, self.plain, self.others, self.text.spot
        transform, is_traced, frame_at = side.transform, side.is_traced, sys._getframe

        class Mode(torch.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
            """Hands every operation on."""

            def __torch_function__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                """`types` are the classes of tensors that could observe the call themselves. In one
                piece, for it runs at each operation, and the caches hold other things by then."""
                sort = sorts.get(function)
                if sort == SILENT or recorder.stepping is not None or is_traced():
                    if sort == REPLACED:
                        function = original(function, frame_at(1))
                    return function(*args, **kwargs) if kwargs else function(*args)
                is_plain = (sort_of(function) if sort is None else sort) == PLAIN
                if is_plain and (kwargs or (args and args[-1] is True)):
                    is_plain = not _may_change(function, args, kwargs)
                if (
                    not is_plain or passes.running or others() or not plain.issuperset(types)
                    or transform() is not None
                ):  # fmt: skip
                    return special(function, args, kwargs or NOTHING)
                spot = spot_of(frame_at(1))
                if (node := spot.node) is not None:
                    state.origin = node
                return made(spot, node, function, args, kwargs or NOTHING)

        return Mode()

    def _made(
        self, spot: Any, node: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Calls one that only makes something, and tells of that."""
        call = spot.call if self.recorder.tape is None else self.taped(spot)
        try:
            result = call(function, args, kwargs)
        except Exception as error:
            self._refused(error, node, (*args, *kwargs.values()))
            raise
        if node is not None:
            state.origin = node
        self.labels.elsewhere = spot.elsewhere
        try:
            if self.tell_new(result):
                self._used(function, result, args)
            elif isinstance(result, self.side.tensor) and self._is_leaf(result):
                self.observer.required(result)
            is_reported = spot.is_reported or self.labels.modules
            if self.recorder.on_cut is not None or not is_reported:
                self._tell_unreported(spot, function, args, kwargs, result)
        except Enough:
            raise
        except Exception as error:  # our defect: the program goes on
            self.defects.append(error)
        return result

    def _sort(self, function: Any) -> int:
        """How much there is to tell of it; it is found once."""
        name, sort = getattr(function, "__name__", ""), PLAIN
        module = getattr(function, "__module__", None)
        if module is not None and not module.startswith("torch"):
            sort = REPLACED
        elif name == "__get__":
            attribute = getattr(function.__self__, "__name__", "")
            sort = SILENT if attribute in QUIET and attribute != "grad_fn" else SPECIAL
        elif name in OTHERS or name in LOST or name.endswith("_") or name.startswith("register_"):
            sort = SPECIAL
        if len(self.sorts) < MOST:
            self.sorts[function] = sort
        return sort

    def _original(self, function: Any, frame: Any) -> Any:
        """What a function of the program stands for: PyTorch looks up by its name what it hands to
        a mode, and so finds what the program has put there, which has called it."""
        if frame.f_code.co_name == "handle_torch_function" and frame.f_back is not None:
            code = frame.f_back.f_code  # of the function that hands itself on
            if code is getattr(function, "__code__", code):
                return function
            return FunctionType(code, frame.f_back.f_globals, code.co_name)
        base = self.recorder.torch._C.TensorBase
        for name, value in vars(self.side.tensor).items():
            if value is function:
                return getattr(base, name, function)
        return function

    def _special(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One that does more than make something, or that is called where more is to be told."""
        if self.sorts.get(function) == REPLACED:
            function = self._original(function, sys._getframe(2))
        name, passes = getattr(function, "__name__", ""), self.recorder.passes
        if name == "__get__":
            attribute = getattr(function.__self__, "__name__", "")
            if attribute == "grad_fn":
                return self._requested_node(function, args)
            if attribute in QUIET or (attribute == "grad" and self._is_read_by_library(args[0])):
                return function(*args, **kwargs)
            if attribute == "data":
                self._shared(args)
        elif name in SHARING:
            self._shared(args)
        if passes.running:
            return self._within_pass(name, function, args, kwargs)
        spot = self.recorder.stand(sys._getframe(2))
        changing = name in CHANGING or name.endswith("_") or _may_change(function, args, kwargs)
        if name in ("__set__", "__delete__"):
            self._setting(function, args)
            changing = function not in (self.set_grad, self.delete_grad, self.set_requires_grad)
            if function == self.set_grad and self._is_library(sys._getframe(2)):
                return function(*args, **kwargs)  # as zero_grad() does it
        before: list[tuple[Any, int]] = []
        if changing:
            with self.recorder.telling():
                before = self.versions(args, kwargs)
        if name == "backward":
            return self._backward(spot, function, args, kwargs)
        call = spot.call if self.recorder.tape is None else self.taped(spot)
        try:
            result = call(function, args, kwargs)
        except Exception as error:
            self._refused(error, spot.node, (*args, *kwargs.values()))
            raise
        state.origin = spot.node or state.origin
        self.labels.elsewhere = spot.elsewhere
        try:
            with self.side.hands_off():
                self._done(spot, function, args, kwargs, result, before)
        except Enough:
            raise
        except Exception as error:  # our defect: the program goes on
            self.defects.append(error)
        return result

    def _refused(self, error: Exception, node: Any, given: tuple[Any, ...]) -> None:
        """An operation raises an error: the innermost one knows what it was given."""
        known = self.recorder.refusal
        if known is None or known.error != (id(error), str(error)):
            module = self.labels.modules[-1] if self.labels.modules else None
            with self.side.hands_off():
                self.recorder.refusal = Refusal.of(error, node, given, module, self.side.tensor)

    def _is_library(self, frame: Any) -> bool:
        """Whether this is code of others, which the program has called."""
        return bool(frame.f_code.co_filename != self.text.filename)

    def _is_read_by_library(self, tensor: Any) -> bool:
        """Whether code of others reads a gradient, and PyTorch has nothing to say about that."""
        is_plain = type(tensor) in self.plain and (tensor.is_leaf or tensor.retains_grad)
        return bool(is_plain and self._is_library(sys._getframe(3)))

    def taped(self, spot: Any) -> Any:
        """What makes a call, and keeps how it was made."""
        return functools.partial(self.recorder.tape.call, spot.call)

    def _done(
        self, spot: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any,
        before: Sequence[tuple[Any, int]],
    ) -> None:  # fmt: skip
        """Tells of an operation: what it changed, what it made."""
        name = _name_of(function)
        if name in LOST:
            with self.recorder.torch.no_grad():
                self.labels.lost = LOST[name](self.recorder.torch, *args, **kwargs)
        fused, is_new = args[0] if name.startswith(FUSED) and args else (), False
        for tensor, version in before:
            if not tensor.is_inference() and tensor._version != version:
                is_new |= self.changed(tensor) and tensor is result
            elif any(one is tensor for one in fused):
                self.side.is_shared = True
                self.changed(tensor)
        if function == self.set_data and not hasattr(type(args[0]), "materialize"):
            self.changed(args[0])
        if name in PRINTING:
            self.tell_new(args[0])
        elif self.tell_new(result) or is_new:
            self._used(function, result, args)
        self.labels.lost = {}
        switching = name == "requires_grad_" or function == self.set_requires_grad
        leaf = args[0] if switching else result
        if isinstance(leaf, self.side.tensor) and self._is_leaf(leaf):
            self.observer.required(leaf)
        if self.recorder.on_switched is not None and switching:
            self.recorder.on_switched(state.origin, args[0], args[0].requires_grad)
        self._tell_unreported(spot, function, args, kwargs, result)
        if name == "retain_grad":
            self.labels.retain(args[0])
        if name.startswith("register_") and name.endswith("hook"):
            self.recorder.passes.hooks.registered(name, args, result)

    def _tell_unreported(
        self, spot: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> None:
        """Tells of an operation that nothing else reports: where the program's code reports itself,
        or a module of a library is called, it is one that goes on with what has left the graph."""
        told, place = self.recorder.on_operation, None
        if self.side.transform() is not None:
            return  # flow is not followed there
        name = _name_of(function)
        if told is None or (name in SHAPES and not isinstance(result, self.side.tensor)):
            return  # as type(dtype) gives
        if spot.is_reported or self.labels.modules:
            cut = self.recorder.on_cut
            if cut is None or not cut(args, result):
                return
            place = "" if spot.elsewhere is None else spot.elsewhere.words
        elif spot.elsewhere is not None and not getattr(result, "requires_grad", False):
            place = spot.elsewhere.words
        inner = None if place is None else Inner(name, place)
        with self.side.hands_off():
            told(spot.node, args, kwargs, result, inner)

    def _within_pass(
        self, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Of what hooks and Functions of the program do, setting a gradient is reported, and what
        enters a graph."""
        is_setting = name in ("__set__", "__delete__")
        if not is_setting and not self.side.switched():
            return function(*args, **kwargs)
        before = state.origin
        spot = self.recorder.stand(sys._getframe(3))
        if is_setting:
            self._setting(function, args)
            state.origin = before
            return function(*args, **kwargs)
        result = spot.call(function, args, kwargs)
        with self.recorder.telling():
            self.tell_new(result)
        state.origin = before
        return result

    def _backward(
        self, spot: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A pass that can't begin is reported as well."""
        try:
            return spot.call(function, args, kwargs)
        except RuntimeError as error:
            self._refused(error, spot.node, args[:1])
            told, shaped = self.recorder.on_refused, SCALAR in str(error)
            if told is not None and (shaped or "does not require grad" in str(error)):
                told(state.origin, args[0], shaped=shaped)
            raise

    def versions(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Any, int]]:
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
        """What is held as it is and lies in the same memory is looked at now, after what the
        observer still has to look at is held."""
        self.observer.changing(tensor)
        self.side.about_to_change(tensor)

    def changed(self, tensor: Any) -> bool:
        """A tensor has new values; what it is a view of, and then it, may have a new node. Whether
        it has."""
        self.recorder.changes.append(Change.of(tensor, state.origin))
        self.observer.changed(tensor)
        if tensor._base is not None:
            self.tell_new(tensor._base)
        return self.tell_new(tensor)

    def _requested_node(self, function: Any, args: tuple[Any, ...]) -> Any:
        """A view of a tensor changed in place gets its new node on demand."""
        node, passes = function(*args), self.recorder.passes
        if node is not None:
            passes.capturing.is_off = True  # the program may put hooks on its nodes
        if node is not None and not passes.running:
            self.recorder.stand(sys._getframe(3))
            self.labels.label(node)
        return node

    def _shared(self, args: tuple[Any, ...]) -> None:
        """From here on elements may change and no version reports it."""
        self.side.is_shared = True
        tensor = args[0] if args else None
        if isinstance(tensor, self.side.tensor) and not hasattr(type(tensor), "materialize"):
            with self.recorder.telling():
                self._changing(tensor)

    def _setting(self, function: Any, args: tuple[Any, ...]) -> None:
        with self.recorder.telling():
            if not self.side.has_numbers(args[0]):
                return  # nothing is known of its gradient: torch.export copies parameters so
            if function == self.delete_grad:
                self.observer.assigned(args[0], None)
            if function == self.set_grad and len(args) == 2:
                tensor, value = args
                if value is not None and not isinstance(value, self.side.tensor):
                    return  # PyTorch refuses it
                if value is None or (value.shape, value.dtype) == (tensor.shape, tensor.dtype):
                    self.observer.assigned(tensor, value)

    def _is_leaf(self, tensor: Any) -> bool:
        """Whether gradients are for it; torch.func makes leaves that are no one's."""
        try:
            return bool(tensor.requires_grad and tensor.is_leaf and not self.side.transform())
        except RuntimeError:  # a view that PyTorch no longer lets anyone use
            return False

    def _used(self, function: Any, result: Any, args: tuple[Any, ...]) -> None:
        """Tells the inputs of a new node, where the arguments are those that it has edges for."""
        kind = self.side.tensor
        if len(args) > 1 and not result.dim():  # a nested tensor has no shape
            self.observer.reduced(args)
        for value in args:
            if not isinstance(value, kind) or not value.requires_grad or value is result:
                break
        else:
            return
        node = result.grad_fn
        following = node.next_functions
        if NOWHERE not in following:
            return
        inputs = args
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            inputs = tuple(args[0])
        elif (
            len(args) == 3 and getattr(function, "__name__", "") == "linear"
        ):  # which calls addmm(bias, input, weight.t())
            inputs = args[2], args[0], args[1]
        inputs = inputs[: len(following)]
        tracked = [isinstance(value, kind) and value.requires_grad for value in inputs]
        known = [edge is not None for edge, _ in following]
        if inputs and inputs[0] is result:  # changed in place: it may be in the graph just now
            tracked[0] = known[0]
        if tracked == known:
            self.observer.used(node, inputs, result)

    def tell_new(self, result: Any, fresh: list[Any] | None = None) -> bool:
        """Tells the tensors of a result that are new in the graph; whether it is one itself."""
        if isinstance(result, self.side.tensor):
            if self.side.transform() is None:
                return self._tell_made(result, fresh)
            levels = list(self.side.levels(result))
            told = [self._tell_made(one, fresh) for one in levels]
            for one, is_new in zip(levels[1:], told[1:], strict=True):
                if is_new:
                    self.labels.tell_operands(one.grad_fn)
            return told[0]
        if isinstance(result, (tuple, list)):
            fresh = [] if fresh is None else fresh
            for item in result:
                self.tell_new(item, fresh)
        return False

    def _tell_made(self, result: Any, fresh: list[Any] | None) -> bool:
        try:
            node = result.grad_fn
        except RuntimeError:  # a view that PyTorch no longer lets anyone use
            return False
        if node is None:
            return False
        if self.labels.label(node):
            if fresh is not None:
                fresh.append(node)
            self.observer.made(result)
            return True
        if fresh and any(node is one for one in fresh):  # one more output of it
            self.observer.made(result)
        return False


def _name_of(function: Any) -> str:
    """What a program calls it: data, of what reads x.data."""
    name = getattr(function, "__name__", "")
    return str(getattr(function.__self__, "__name__", "") if name == "__get__" else name)


def _may_change(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an argument asks for it: relu(x, inplace=True), dropout(x, 0.5, True, True)."""
    if kwargs and ("out" in kwargs or kwargs.get("inplace", False)):
        return True
    if not args or args[-1] is not True:
        return False
    return "inplace" in getattr(getattr(function, "__code__", None), "co_varnames", ())
