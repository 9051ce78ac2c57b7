"""Library: torch.nn.Module: parameters, buffers and modules inside modules; calling one."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..engine.graph.hooks import RemovableHandle, add
from ..engine.graph.leaf import reset_gradient
from ..engine.schema.class_name import NamedInTorch
from ..engine.schema.dtypes import BY_NAME, DType
from ..engine.schema.mode import state as mode
from ..engine.schema.settable import Takes
from ..engine.tensors.tensor import Tensor
from . import state
from .derived import derived, parametrizations
from .parameter import Buffer, persistence
from .registered import (
    TABLES,
    check_name,
    missing_attribute,
    only_none,
    ready,
    remove_elsewhere,
    table_of,
    typename,
    unlike,
)


class Module(metaclass=NamedInTorch):
    """The base class of all networks.

    `PUBLIC` names what a program may use of an instance, `TAKES` what it may put there; a class's
    own entries add to its parents'.
    """

    PUBLIC: tuple[str, ...] = (
        "training", "forward", "parameters", "named_parameters", "buffers", "named_buffers",
        "children", "named_children", "modules", "named_modules", "train", "eval", "zero_grad",
        "requires_grad_", "apply", "to", "float", "double", "half", "bfloat16", "cpu", "cuda",
        "type", "share_memory",
        "state_dict", "load_state_dict", "add_module", "register_module", "register_parameter",
        "register_buffer", "get_parameter", "get_buffer", "get_submodule", "extra_repr",
        "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook",
        "register_full_backward_pre_hook", "register_backward_hook",
        "_get_name", "get_extra_state", "set_extra_state",
    )  # fmt: skip

    # Methods that the library calls where a program's module has them.
    ASKED: tuple[str, ...] = ("right_inverse",)

    TAKES: Mapping[str, Takes] = {"*": Takes.PLAIN, "forward": Takes.CALLABLE}

    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args or kwargs:
            call = f"{type(self).__name__}.__init__()"
            if kwargs:
                name = next(iter(kwargs))
                raise TypeError(f"{call} got an unexpected keyword argument '{name}'")
            raise TypeError(f"{call} takes 1 positional argument but {len(args) + 1} were given")
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _modules={},
            _transient=set(),
            _forward_pre_hooks={},
            _forward_hooks={},
            _backward_pre_hooks={},
            _backward_hooks={},
            _is_full_backward_hook=None,
        )

    # ---- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__") or name in _INTERNAL:
            self.__dict__[name] = value
            return
        if is_part(value):
            self.__dict__.pop(name, None)  # from now on it is in a table
        if not self._registered(name, value):
            object.__setattr__(self, name, value)

    def _registered(self, name: str, value: Any) -> bool:
        """Puts a parameter, a module or a buffer where it belongs; False for other attributes."""
        own = self.__dict__
        computes = parametrizations(self).get(name)
        if computes is not None:
            computes.right_inverse(value)
        elif isinstance(value, Tensor) and value.is_parameter:
            ready(self, "parameters")
            remove_elsewhere(own, name, "_parameters")
            self.register_parameter(name, value)
        elif name in (own.get("_parameters") or ()):
            only_none(value, "parameter", name, "torch.nn.Parameter or None")
            own["_parameters"][name] = None
        elif isinstance(value, Module):
            ready(self, "module")
            remove_elsewhere(own, name, "_modules")
            own["_modules"][name] = value
        elif name in (own.get("_modules") or ()):
            only_none(value, "child module", name, "torch.nn.Module or None")
            own["_modules"][name] = None
        elif isinstance(value, Buffer):
            self.register_buffer(name, value, persistent=bool(persistence(value)))
        elif name in (own.get("_buffers") or ()):
            if not isinstance(value, Tensor):
                only_none(value, "buffer", name, "torch.nn.Buffer, torch.Tensor or None")
            own["_buffers"][name] = value
        else:
            return False
        return True

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for kind in TABLES:
            held = own.get(kind)
            if held and name in held:
                return held[name]
        computed = derived(self, name)
        if computed is not None:
            return computed
        raise missing_attribute(self, name)

    def __delattr__(self, name: str) -> None:
        own = self.__dict__
        for kind in TABLES:
            if name in (own.get(kind) or ()):
                del own[kind][name]
                return
        object.__delattr__(self, name)

    def register_parameter(self, name: str, param: Any) -> None:
        ready(self, "parameter")
        check_name(self, name, "parameter", "_parameters")
        if param is not None and not (isinstance(param, Tensor) and param.is_parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                "created explicitly. To express 'weight' as a function of another Tensor, compute "
                "the value in the forward() method."
            )
        self.__dict__["_parameters"][name] = param

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        ready(self, "buffer")
        check_name(self, name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self.__dict__["_buffers"][name] = tensor
        if not persistent:
            self.__dict__["_transient"].add(name)

    def add_module(self, name: str, module: Any) -> None:
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        check_name(self, name, "module", "_modules")
        table_of(self, "_modules")[name] = module

    register_module = add_module

    # ---- what is inside

    def named_modules(
        self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        if remove_duplicate:
            memo.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                inner = prefix + ("." if prefix else "") + name
                yield from module.named_modules(memo, inner, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        seen = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        for _, module in self.named_children():
            yield module

    def _named(self, kind: str, prefix: str, recurse: bool, once: bool) -> Iterator[Any]:
        seen = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=once)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, value in table_of(module, kind).items():
                if value is None or (once and id(value) in seen):
                    continue
                seen.add(id(value))
                yield path + ("." if path else "") + name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        yield from self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        yield from self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Module:
        module = self
        for name in filter(None, target.split(".")):
            inner = module._modules.get(name)
            if inner is None:
                raise unlike(module, name, "nn.Module")
            module = inner
        return module

    def get_parameter(self, target: str) -> Tensor:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if name not in module._parameters:
            raise unlike(module, name, "nn.Parameter")
        return module._parameters[name]

    def get_buffer(self, target: str) -> Tensor:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if name not in module._buffers:
            raise unlike(module, name, "buffer")
        return module._buffers[name]

    # ---- modes and conversions

    def train(self, mode: bool = True) -> Module:
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Module:
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self.parameters():
            reset_gradient(parameter, set_to_none)

    def apply(self, fn: Callable[[Module], Any]) -> Module:
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _convert(self, change: Callable[[Tensor], Tensor]) -> Module:
        """Changes every parameter and buffer, a parameter's identity kept as PyTorch keeps it."""
        for module in self.modules():
            for parameter in module._parameters.values():
                if parameter is not None:
                    parameter.data = change(parameter.detach())
                    grad = parameter._meta.grad
                    if grad is not None:
                        grad.data = change(grad.detach())
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    module._buffers[name] = change(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Module:
        given = [*args, *kwargs.values()]
        dtype = next((value for value in given if isinstance(value, DType)), None)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype!r}"
            )
        others = [value for value in given if value is not dtype and value is not None]

        def change(tensor: Tensor) -> Tensor:
            for value in others:
                if not isinstance(value, bool):
                    tensor = tensor.to(value)  # type: ignore[attr-defined]
            if dtype is not None and tensor.dtype.category >= 2:
                tensor = tensor.to(dtype)  # type: ignore[attr-defined]
            return tensor

        return self._convert(change)

    def type(self, dst_type: Any) -> Module:
        return self._convert(lambda tensor: tensor.type(dst_type))  # type: ignore[attr-defined]

    def _cast(self, dtype: str) -> Module:
        return self.to(BY_NAME[dtype])

    def float(self) -> Module:
        return self._cast("float32")

    def double(self) -> Module:
        return self._cast("float64")

    def half(self) -> Module:
        return self._cast("float16")

    def bfloat16(self) -> Module:
        return self._cast("bfloat16")

    def share_memory(self) -> Module:
        """With other processes, of which there are none."""
        return self

    def cpu(self) -> Module:
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Module:
        return self.to("cuda" if device is None else device)

    # ---- state

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Any]:
        found = state.gather(self, destination, prefix, keep_vars)
        found._metadata = {}  # type: ignore[attr-defined]  # it is of the newest version
        return found

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        return state.load(self, state_dict, strict, assign)

    # ---- calls and hooks

    def _no_forward(self, *args: Any) -> Any:
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    # A variable, so that type checkers let each class take arguments of its own.
    forward: Callable[..., Any] = _no_forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        if "_parameters" not in own:
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '_backward_hooks'"
            )
        if not (
            own["_forward_hooks"] or own["_forward_pre_hooks"]
            or own["_backward_hooks"] or own["_backward_pre_hooks"]
        ):  # fmt: skip
            if mode.observer is None:
                return self.forward(*args, **kwargs)
        from .hooks import call

        return call(self, args, kwargs)

    def register_forward_pre_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        return add(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:  # fmt: skip
        return add(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook: Any, prepend: bool = False) -> RemovableHandle:
        self._hooks_are_full(True)
        return add(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Any, prepend: bool = False) -> RemovableHandle:
        return add(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Any) -> RemovableHandle:
        self._hooks_are_full(False)
        return add(self._backward_hooks, hook)

    def _hooks_are_full(self, full: bool) -> None:
        if self._is_full_backward_hook not in (None, full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self.__dict__["_is_full_backward_hook"] = full

    get_extra_state, set_extra_state = state.get_extra_state, state.set_extra_state

    # ---- text

    def extra_repr(self) -> str:
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        inner = [f"({name}): " + _indented(repr(module)) for name, module in self._modules.items()]
        text = self._get_name() + "("
        if lines or inner:
            if len(lines) == 1 and not inner:
                text += lines[0]
            else:
                text += "\n  " + "\n  ".join(lines + inner) + "\n"
        return text + ")"

    def __dir__(self) -> list[str]:
        held = itertools.chain(self._parameters, self._buffers, self._modules)
        return sorted({*object.__dir__(self), *held})


_INTERNAL = frozenset(("training", "_parameters", "_buffers", "_modules", "_transient"))


def is_part(value: Any) -> bool:
    """Does a module register it: a parameter, a module, a buffer?"""
    return isinstance(value, (Module, Buffer)) or (isinstance(value, Tensor) and value.is_parameter)


def _indented(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *("  " + line for line in rest)])
