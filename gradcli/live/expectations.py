"""Live: `# expect:` comments in a program that Python runs: their results are logged."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from ..language.compile.expectations import ended_in, ended_well, failure_of, judged
from ..language.compile.operand_values import Operands, operands_of
from ..recording.sides import is_live
from .rewrite import planted_call
from .values import own_tensor

if TYPE_CHECKING:
    from ..language.expectations import Log

HOLDS, OPERAND, REFUSED, MET, MISSED, ERROR = (
    "holds", "operand", "refused", "met", "missed", "error"
)  # fmt: skip


class Expecting(ast.NodeTransformer):
    """What the rewritten code runs for expectations: each stands where its text does."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.expectations: list[Any] = []
        self.operands: list[ast.expr] = []
        self.asked: set[int] = set()
        self.kept: Operands = []

    def statement(self, node: Any) -> ast.stmt:
        """What runs in the place of one."""
        what, expectation = node.expectation_step
        number = len(self.expectations)
        self.expectations.append(expectation)
        if what != HOLDS:
            return _call(what, node, number)
        self.asked = {id(part) for part in operands_of(node.value)}
        tested = planted_call(HOLDS, node, ast.Constant(number), self.visit(node.value))
        handler = ast.ExceptHandler(
            ast.Constant(f"gradcli: {ERROR}"), None, [_call(REFUSED, node, number)]
        )
        made = ast.Try([ast.copy_location(ast.Expr(tested), node)], [handler], [], [])
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit(self, node: Any) -> Any:
        asked = id(node) in self.asked
        self.generic_visit(node)
        if not asked:
            return node
        self.operands.append(node)
        return planted_call(OPERAND, node, ast.Constant(len(self.operands) - 1), node)

    def table(self) -> dict[str, Any]:
        """What it calls, by the names of that."""
        log, expectations = self.log, self.expectations

        def operand(number: int, value: Any) -> Any:
            self.kept.append((self.operands[number], _ours(value)))
            return value

        def holds(number: int, value: Any) -> None:
            log.tell(expectations[number], judged(_ours(value), self._taken()))

        def refused(number: int) -> None:
            log.tell(expectations[number], failure_of(_error(), self._taken()))

        def met(number: int) -> None:
            ended_in(_error(), log, expectations[number])

        def missed(number: int) -> None:
            ended_well(log, expectations[number])

        said = {OPERAND: operand, HOLDS: holds, REFUSED: refused, MET: met, MISSED: missed,
                ERROR: Exception}  # fmt: skip
        return {f"gradcli: {name}": call for name, call in said.items()}

    def _taken(self) -> Operands:
        kept, self.kept = self.kept, []
        return kept


def _call(name: str, node: ast.AST, number: int) -> ast.stmt:
    called = planted_call(name, node, ast.Constant(number))
    return ast.fix_missing_locations(ast.copy_location(ast.Expr(called), node))


def _ours(value: Any) -> Any:
    """A tensor that the words for conditions know."""
    return own_tensor(value) if is_live(value) else value


def _error() -> BaseException:
    error = sys.exc_info()[1]
    assert error is not None
    return error
