"""Library: dropout modules: active in training, the identity in evaluation."""

from __future__ import annotations

from typing import Any

from .configured import Configured, function


class Dropout(Configured):
    PUBLIC = ("p", "inplace")
    SETTINGS = (("p", 0.5), ("inplace", False))
    SHOWN = ("p", "inplace")
    FUNCTION = "dropout"

    def _settle(self) -> None:
        if self.p < 0 or self.p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def forward(self, input: Any) -> Any:
        return function(type(self).FUNCTION)(input, self.p, self.training, self.inplace)


class Dropout1d(Dropout):
    FUNCTION = "dropout1d"


class Dropout2d(Dropout):
    FUNCTION = "dropout2d"


class Dropout3d(Dropout):
    FUNCTION = "dropout3d"


class AlphaDropout(Dropout):
    FUNCTION = "alpha_dropout"


class FeatureAlphaDropout(Dropout):
    FUNCTION = "feature_alpha_dropout"
