"""Live: a rewritten program that reports hooks on nodes, which PyTorch does not report."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .registered import OF_NODES
from .rewrite import Rewriter, planted_call

REGISTERING = "registering"


class NodeHookRewriter(Rewriter):
    """Tells of names, and where `node.register_hook(...)` stands, of that."""

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in OF_NODES:
            number, word = self.number(node), ast.Constant(func.attr)
            node.func = planted_call(REGISTERING, func, ast.Constant(number), func.value, word)
        return node

    def registering(self) -> Callable[[int, Any, str], Any]:
        """What replaces the method; a tensor's is its own."""
        nodes, noticed = self.nodes, self.machine.recorder.passes.hooks.noticed

        def of(number: int, owner: Any, word: str) -> Any:
            method = getattr(owner, word)
            if not hasattr(type(owner), "register_prehook"):
                return method

            def register(*given: Any, **named: Any) -> Any:
                handle = method(*given, **named)
                noticed(nodes[number], handle, owner)
                return handle

            return register

        return of
