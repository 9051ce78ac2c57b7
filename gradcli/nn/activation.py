"""Library: activation modules."""

from __future__ import annotations

from typing import Any

from . import functional
from .configured import REQUIRED, Configured
from .create import empty
from .init import constant_
from .parameter import Parameter

_INPLACE = (("inplace", False),)


class _InPlace(Configured):
    """Activations with no setting but `inplace`, printed only where it is on."""

    PUBLIC = ("inplace",)
    SETTINGS = _INPLACE
    PASSED = ("inplace",)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ReLU(_InPlace):
    FUNCTION = "relu"


class SiLU(_InPlace):
    FUNCTION = "silu"


class Mish(_InPlace):
    FUNCTION = "mish"


class SELU(_InPlace):
    FUNCTION = "selu"


class Hardswish(_InPlace):
    FUNCTION = "hardswish"
    SHOWN = ()

    def extra_repr(self) -> str:
        return ""


class Hardsigmoid(_InPlace):
    FUNCTION = "hardsigmoid"

    def extra_repr(self) -> str:
        return ""


class LeakyReLU(_InPlace):
    PUBLIC = ("negative_slope",)
    SETTINGS = (("negative_slope", 0.01), *_INPLACE)
    PASSED = ("negative_slope", "inplace")
    FUNCTION = "leaky_relu"

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}" + (", inplace=True" * self.inplace)


class _Exponential(_InPlace):
    PUBLIC = ("alpha",)
    SETTINGS = (("alpha", 1.0), *_INPLACE)
    PASSED = ("alpha", "inplace")

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" * self.inplace)


class ELU(_Exponential):
    FUNCTION = "elu"


class CELU(_Exponential):
    FUNCTION = "celu"


class Hardtanh(_InPlace):
    PUBLIC = ("min_val", "max_val")
    SETTINGS = (("min_val", -1.0), ("max_val", 1.0), *_INPLACE)
    PASSED = ("min_val", "max_val", "inplace")
    FUNCTION = "hardtanh"

    def _settle(self) -> None:
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" * self.inplace)


class ReLU6(Hardtanh):
    SETTINGS = _INPLACE

    def _settle(self) -> None:
        self.min_val, self.max_val = 0.0, 6.0

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Threshold(_InPlace):
    PUBLIC = ("threshold", "value")
    SETTINGS = (("threshold", REQUIRED), ("value", REQUIRED), *_INPLACE)
    PASSED = ("threshold", "value", "inplace")
    FUNCTION = "threshold"

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" * self.inplace)


class RReLU(_InPlace):
    PUBLIC = ("lower", "upper")
    SETTINGS = (("lower", 1.0 / 8), ("upper", 1.0 / 3), *_INPLACE)
    FUNCTION = "rrelu"

    def forward(self, input: Any) -> Any:
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" * self.inplace)


class GELU(Configured):
    PUBLIC = ("approximate",)
    SETTINGS = (("approximate", "none"),)
    PASSED = ("approximate",)
    FUNCTION = "gelu"

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Softplus(Configured):
    PUBLIC = ("beta", "threshold")
    SETTINGS = (("beta", 1.0), ("threshold", 20.0))
    PASSED = SHOWN = ("beta", "threshold")
    FUNCTION = "softplus"


class Softsign(Configured):
    FUNCTION = "softsign"


class Sigmoid(Configured):
    FUNCTION = "sigmoid"


class Tanh(Configured):
    FUNCTION = "tanh"


class LogSigmoid(Configured):
    FUNCTION = "logsigmoid"


class Tanhshrink(Configured):
    FUNCTION = "tanhshrink"


class _Shrink(Configured):
    PUBLIC = ("lambd",)
    SETTINGS = (("lambd", 0.5),)
    PASSED = ("lambd",)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    FUNCTION = "hardshrink"


class Softshrink(_Shrink):
    FUNCTION = "softshrink"


class _Normalised(Configured):
    PUBLIC = ("dim",)
    SETTINGS = (("dim", None),)
    PASSED = SHOWN = ("dim",)


class Softmax(_Normalised):
    FUNCTION = "softmax"


class LogSoftmax(_Normalised):
    FUNCTION = "log_softmax"


class Softmin(_Normalised):
    FUNCTION = "softmin"


class Softmax2d(Configured):
    def forward(self, input: Any) -> Any:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return functional.softmax(input, -3)


class GLU(Configured):
    PUBLIC = ("dim",)
    SETTINGS = (("dim", -1),)
    PASSED = SHOWN = ("dim",)
    FUNCTION = "glu"


class PReLU(Configured):
    PUBLIC = ("num_parameters", "weight", "init", "reset_parameters")
    SETTINGS = (("num_parameters", 1), ("init", 0.25), ("device", None), ("dtype", None))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        values = self._bound(args, kwargs)
        super(Configured, self).__init__()
        self.num_parameters, self.init = values["num_parameters"], values["init"]
        self.weight = Parameter(empty((self.num_parameters,), dtype=values["dtype"]))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        constant_(self.weight, float(self.init))

    def forward(self, input: Any) -> Any:
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
