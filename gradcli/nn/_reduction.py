"""Library: torch.nn.functional._Reduction, which losses of other libraries ask."""

from __future__ import annotations

from ..operators.conventions import older_flags, reduction_number


def get_enum(reduction: str) -> int:
    return reduction_number(reduction)


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    return older_flags(size_average, reduce, emit_warning)


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    return reduction_number(older_flags(size_average, reduce, emit_warning))
