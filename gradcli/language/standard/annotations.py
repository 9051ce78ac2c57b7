"""language: typing: names for annotations, which are not evaluated."""

from __future__ import annotations

from ..modules import MODULES as TABLE
from ..values import Annotation

MODULES = {"typing": {name: Annotation(f"typing.{name}") for name in TABLE["typing"].names}}
