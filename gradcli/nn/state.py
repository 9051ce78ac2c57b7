"""Library: a module's state as a dictionary, and back into the module."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..engine.schema.mode import no_grad
from ..engine.tensors.tensor import Tensor
from .registered import table_of

if TYPE_CHECKING:
    from .module import Module


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict found too little and too much."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__().replace(type(self).__name__, "_IncompatibleKeys", 1)

    __str__ = __repr__


EXTRA = "_extra_state"  # the name of what get_extra_state gives


def get_extra_state(self: Module) -> Any:
    """What a module keeps beside its tensors: nothing, unless its class says what."""
    raise RuntimeError(_NO_EXTRA.format("get"))


def set_extra_state(self: Module, state: Any) -> None:
    """Takes what get_extra_state gave."""
    raise RuntimeError(_NO_EXTRA.format("set"))


for method in (get_extra_state, set_extra_state):
    method.__qualname__ = f"Module.{method.__name__}"
_NO_EXTRA = (
    "Reached a code path in Module.{}_extra_state() that should never be called. Please file an "
    "issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this "
    "bug."
)


def gather(module: Module, destination: Any, prefix: str, keep_vars: bool) -> OrderedDict[str, Any]:
    """Parameters and persistent buffers by their dotted names, detached unless keep_vars."""
    found: OrderedDict[str, Any] = OrderedDict() if destination is None else destination
    for kind in ("_parameters", "_buffers"):
        for name, value in table_of(module, kind).items():
            if value is not None and name not in module._transient:
                found[prefix + name] = value if keep_vars else value.detach()
    if type(module).get_extra_state is not get_extra_state:
        found[prefix + EXTRA] = module.get_extra_state()
    for name, inner in module._modules.items():
        if inner is not None:
            gather(inner, found, prefix + name + ".", keep_vars)
    return found


def load(module: Module, given: Any, strict: bool, assign: bool) -> IncompatibleKeys:
    """Copies values into the module's tensors; errors are collected and raised together."""
    if not isinstance(given, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(given)}.")
    missing: list[str] = []
    wrong: list[str] = []
    expected: set[str] = set()
    # A dictionary of no known version may be older than the counter of batch norms.
    versioned = hasattr(given, "_metadata")
    for path, inner in module.named_modules(remove_duplicate=False):
        head = path + "." if path else ""
        for kind in ("_parameters", "_buffers"):
            for name, value in inner.__dict__[kind].items():
                if value is None or name in inner._transient:
                    continue
                key = head + name
                expected.add(key)
                if key not in given:
                    if versioned or name != "num_batches_tracked":
                        missing.append(key)
                    continue
                _copy(inner, kind, name, value, key, given[key], assign, wrong)
        if type(inner).set_extra_state is not set_extra_state:
            expected.add(head + EXTRA)
            if head + EXTRA in given:
                inner.set_extra_state(given[head + EXTRA])
            else:
                missing.append(head + EXTRA)
    unexpected = [key for key in given if key not in expected]
    errors = list(wrong)
    if strict:
        if missing:
            errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if unexpected:
            errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
            if missing:
                errors[0], errors[1] = errors[1], errors[0]
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{listed}"
        )
    return IncompatibleKeys(missing, unexpected)


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


def _copy(
    module: Module, kind: str, name: str, own: Tensor, key: str, value: Any, assign: bool,
    wrong: list[str],
) -> None:  # fmt: skip
    if not isinstance(value, Tensor):
        wrong.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(value)}"
        )
        return
    if type(own) is not Tensor and hasattr(own, "materialize"):  # of a lazy module
        own.materialize(value.shape)
    if tuple(value.shape) != tuple(own.shape):
        wrong.append(
            f"size mismatch for {key}: copying a param with shape {value.shape!r} from "
            f"checkpoint, the shape in current model is {own.shape!r}."
        )
        return
    if assign:
        from .parameter import Parameter

        keep = kind == "_parameters" and not value.is_parameter
        module.__dict__[kind][name] = Parameter(value, own.requires_grad) if keep else value
        return
    with no_grad():
        own.copy_(value)  # type: ignore[attr-defined]
