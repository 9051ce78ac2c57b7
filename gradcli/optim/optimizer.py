"""Library: what all optimisers share: groups of parameters, their state, the step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from ..engine.graph.hooks import RemovableHandle, add
from ..engine.graph.leaf import gradient_of, reset_gradient
from ..engine.schema.class_name import NamedInTorch, name_in_messages
from ..engine.schema.mode import enable_grad, set_grad_enabled, state
from ..engine.schema.settable import Takes
from ..engine.tensors.construct import tensor
from ..engine.tensors.tensor import Tensor
from ..nn.registered import typename
from ..operators import catalogue
from .stepping import MADE, hooked, renamed


class Required:
    """The default of an argument that has to be given, in optimizers written for older releases."""

    PUBLIC = ()

    def __repr__(self) -> str:
        return "<required parameter>"


required = Required()

# Settings that a state saved before they came has not, and what they were.
ADDED: dict[str, Any] = {
    "amsgrad": False, "maximize": False, "foreach": None, "capturable": False,
    "differentiable": False, "decoupled_weight_decay": False, "fused": None, "momentum": 0,
    "centered": False, "nesterov": False,
}  # fmt: skip

# What else must lie on the GPU in a captured step.
CAPTURED = {"NAdam": ", mu_products", "ASGD": ", mus, etas,"}


class Optimizer(metaclass=NamedInTorch):
    """Changes parameters in place from their gradients.

    A subclass gives `_update(parameter, grad, state, group)`; PUBLIC names what programs may use.
    """

    PUBLIC: tuple[str, ...] = (
        "param_groups", "state", "defaults", "step", "zero_grad", "state_dict", "load_state_dict",
        "add_param_group", "register_step_pre_hook", "register_step_post_hook",
    )  # fmt: skip

    TAKES: Mapping[str, Takes] = {"*": Takes.VALUE}
    EXTENSIBLE = True
    _pre_hooks: dict[int, Any] = {}  # of one whose __init__ has not run
    _post_hooks: dict[int, Any] = {}
    _running_steps = 0  # a step may call that of a class above

    def __init_subclass__(cls) -> None:
        own = cls.__dict__.get("step")
        if own is None and Optimizer in cls.__bases__:  # each has one of its own in PyTorch
            own = renamed(Optimizer.step.__wrapped__, f"{cls.__name__}.step")  # type: ignore[attr-defined]
        if own is not None:
            cls.step = hooked(own)  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if not isinstance(defaults, dict):
            kind = name_in_messages(type(defaults))
            raise TypeError(f"the defaults of an optimizer are a dictionary, not {kind}")
        self.defaults = defaults
        if defaults.get("fused") and defaults.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if defaults.get("fused") and defaults.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {params.type()}"  # type: ignore[attr-defined]
            )
        self.state: Any = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._pre_hooks, self._post_hooks = {}, {}
        MADE.add(type(self))
        self._stepped = False  # schedules warn when they step first
        groups = state.taken(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group) if isinstance(group, dict) else group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        entries = [given] if isinstance(given, Tensor) else state.taken(given)
        names = [entry[0] for entry in entries if isinstance(entry, tuple)]
        parameters = [entry[1] if isinstance(entry, tuple) else entry for entry in entries]
        if names and len(names) != len(parameters):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        param_group["params"] = parameters
        if names:
            param_group["param_names"] = names
        for parameter in parameters:
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    + typename(parameter)
                )
            if not (parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                words = "parameter group didn't specify a value of required optimization parameter"
                raise ValueError(f"{words} {name}")
            param_group.setdefault(name, default)
        identities = [id(parameter) for parameter in parameters]
        if len(identities) != len(set(identities)):
            state.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                "information"
            )
        for group in self.param_groups:
            if ("param_names" in group) != ("param_names" in param_group):
                words = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param "
                    f"group {words} to the optimizer"
                )
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if known & set(identities):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)
        if state.observer is not None:
            state.observer.optimizing(self, parameters)

    # ---- the step

    @hooked
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates every parameter that has a gradient; a closure computes the loss anew first."""
        loss = None
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            if closure is not None:
                with enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for parameter in group["params"]:
                    grad = gradient_of(parameter)
                    if grad is None:
                        continue
                    if grad.__class__ is not Tensor:
                        self._check_sparse(group)
                    if group.get("capturable"):
                        self._check_captured(parameter)
                    if group.get("maximize"):
                        grad = -grad
                    own = self.state[parameter] if self._keeps(group) else {}
                    if parameter.dtype.is_complex:
                        self._update_parts(parameter, grad, own, group)
                    else:
                        self._update(parameter, grad, own, group)
        return loss

    def _check_sparse(self, group: dict[str, Any]) -> None:
        """Refuses a sparse gradient, unless the optimiser knows what to do with it."""
        name, advice = self._own().__name__, ""
        if name in ("Adam", "AdamW"):
            name, advice = "Adam", ", please consider SparseAdam instead"
        raise RuntimeError(f"{name} does not support sparse gradients{advice}")

    def _own(self) -> type:
        """The class of the library that a program's class is made of."""
        return next(c for c in type(self).__mro__ if c.__module__.startswith(__package__))

    def _check_captured(self, parameter: Tensor) -> None:
        """A step that a graph of CUDA captures never reads a number on the CPU."""
        if not parameter.is_cuda:
            others = CAPTURED.get(self._own().__name__, "")
            raise AssertionError(
                f"If capturable=True, params{others} and state_steps must be on supported "
                "devices: ['cuda', 'xpu', 'hpu', 'privateuseone', 'xla']."
            )

    def _keeps(self, group: dict[str, Any]) -> bool:
        """Does a parameter of this group have a state from one step to the next?"""
        return True

    def _update_parts(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Each part of a complex number is updated as a number; the state is complex again."""
        pairs = {name: real_parts(value) for name, value in own.items()}
        parameter = real_parts(parameter)
        self._update(parameter, real_parts(grad), pairs, group)
        for name, value in pairs.items():
            is_pair = isinstance(value, Tensor) and value.shape == parameter.shape
            own[name] = catalogue.functions["view_as_complex"](value) if is_pair else value

    def _update(
        self, parameter: Any, grad: Any, own: dict[str, Any], group: dict[str, Any]
    ) -> None:
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                reset_gradient(parameter, set_to_none)

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return add(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return add(self._post_hooks, hook)

    # ---- state

    def _numbers(self) -> dict[int, int]:
        numbers: dict[int, int] = {}
        start = 0
        for group in self.param_groups:
            places = {id(parameter): n for n, parameter in enumerate(group["params"], start)}
            numbers = places | numbers  # of one that stands there twice the last place
            start += len(group["params"])
        return numbers

    def state_dict(self) -> dict[str, Any]:
        """State by the parameters' numbers, and the groups' settings."""
        numbers = self._numbers()
        groups = []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(parameter)] for parameter in group["params"]]
            groups.append(packed)
        packed_state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        return {"state": packed_state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The settings and the state of another optimizer, in the place of its own."""
        groups, saved = self.param_groups, state_dict["param_groups"]
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(
            len(own["params"]) != len(new["params"]) for own, new in zip(groups, saved, strict=True)
        ):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        by_number: dict[int, Any] = {}
        self.param_groups = []
        for own, new in zip(groups, saved, strict=True):
            by_number.update(zip(new["params"], own["params"], strict=True))
            group = {k: deepcopy(v) for k, v in new.items() if k != "params"}
            for key in (*ADDED, "param_names"):  # settings that came with later releases
                source = self.defaults if key in ADDED else own
                if key in source:
                    group.setdefault(key, ADDED.get(key, own.get(key)))
            self.param_groups.append(group | {"params": own["params"]})
        self.state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            parameter = by_number.get(key, key)
            self.state[parameter] = {
                name: _fitting(item, parameter, name) for name, item in value.items()
            }

    def __repr__(self) -> str:
        text = type(self).__name__ + " ("
        for place, group in enumerate(self.param_groups):
            text += f"\nParameter Group {place}\n"
            for key in sorted(group):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"


def counted(own: dict[str, Any]) -> float:
    """One more step in a parameter's state; PyTorch keeps the count in a tensor."""
    if "step" not in own:
        own["step"] = tensor(0.0)
    own["step"].add_(1.0)
    return float(own["step"].item())


def _fitting(value: Any, parameter: Any, name: str) -> Any:
    """A tensor of a loaded state in the parameter's type; as in PyTorch no copy is made of it,
    but of the containers around it."""
    if isinstance(value, dict):
        return {key: _fitting(item, parameter, key) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_fitting(item, parameter, "") for item in value])
    if name == "step" or not (isinstance(value, Tensor) and isinstance(parameter, Tensor)):
        return value
    if not parameter.dtype.is_floating_point:
        return value
    return value.to(dtype=parameter.dtype, device=parameter.device)  # type: ignore[attr-defined]


def real_parts(value: Any) -> Any:
    """A complex tensor as a view of its parts; anything else itself."""
    if isinstance(value, Tensor) and value.dtype.is_complex:
        return catalogue.functions["view_as_real"](value)
    return value


def zeros_for(parameter: Any) -> Any:
    return catalogue.functions["zeros_like"](parameter.detach())


def alike(grad: Any, values: Any) -> Any:
    """A sparse tensor with other elements at the places of a gradient."""
    make = catalogue.functions["sparse_coo_tensor"]
    return make(grad._indices(), values, grad.shape, check_invariants=False)


def decayed(parameter: Any, grad: Any, weight_decay: float) -> Any:
    """The gradient with the L2 penalty's added."""
    return grad.add(parameter, alpha=weight_decay) if weight_decay != 0 else grad


def as_number(value: Any) -> Any:
    """A learning rate given as a tensor, as a number."""
    return value.item() if isinstance(value, Tensor) else value


def check_rate(lr: Any, text: str = "Invalid learning rate") -> None:
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not as_number(lr) >= 0.0:
        raise ValueError(f"{text}: {lr}")


def check_betas(betas: tuple[float, float]) -> None:
    for place, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {place}: {beta}")


def check_positive(**settings: float) -> None:
    """Raises PyTorch's error for the first setting below zero; names come as it words them."""
    for name, value in settings.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {name} value: {value}")
