"""Library: dropout modules: active in training, the identity in evaluation."""

from __future__ import annotations

from typing import Any

from .configured import Configured, function, named_calls


class _Dropout(Configured):
    PUBLIC = ("p", "inplace")
    SETTINGS = (("p", 0.5), ("inplace", False))
    SHOWN = ("p", "inplace")

    def _settle(self) -> None:
        if self.p < 0 or self.p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def forward(self, input: Any) -> Any:
        return function(type(self).FUNCTION)(input, self.p, self.training, self.inplace)


@named_calls
class Dropout(_Dropout):
    FUNCTION = "dropout"


@named_calls
class Dropout1d(_Dropout):
    FUNCTION = "dropout1d"


@named_calls
class Dropout2d(_Dropout):
    FUNCTION = "dropout2d"


@named_calls
class Dropout3d(_Dropout):
    FUNCTION = "dropout3d"


@named_calls
class AlphaDropout(_Dropout):
    FUNCTION = "alpha_dropout"


@named_calls
class FeatureAlphaDropout(_Dropout):
    FUNCTION = "feature_alpha_dropout"
