"""Live: the hooks of a program: which calls register them, and in which tables they lie."""

from __future__ import annotations

from typing import Any
from weakref import ref

from ..named import NamedTuple

KINDS = {
    "register_hook": "tensor",
    "register_post_accumulate_grad_hook": "post accumulate",
}
TABLES = (("tensor", "_backward_hooks"), ("post accumulate", "_post_accumulate_grad_hooks"))
OF_TABLES = (("module", "_backward_hooks"), ("module pre", "_backward_pre_hooks"))
# Of nodes: PyTorch does not report these calls, a rewritten program does.
OF_NODES = {"register_hook": "node", "register_prehook": "node pre"}
OF_MODULES = {
    "register_full_backward_hook": "module",
    "register_full_backward_pre_hook": "module pre",
}


class Registered(NamedTuple):
    """A hook of the program: where it is in its table, and what it is on, held weakly."""

    kind: str
    table: ref[Any]
    number: int
    tensor: ref[Any] | None
    mark: ref[Any] | None
