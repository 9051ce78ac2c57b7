"""Questions: trials against NaN and infinity: the double where, a bounded operand."""

from __future__ import annotations

import ast
from typing import Any, TypeGuard

from ...engine.schema.operator import Domain
from ..declared import domain_of, logarithm_of
from ..provenance.values import name_of
from .case import Case, Trial
from .edits import advised, operand, replace, rewritten, with_keyword
from .smooth import operands

SMALL = "1e-6"
# Python's signs whose second operand, or whose base, may be out of their domain.
SIGNS: dict[type[ast.operator], str] = {
    ast.Div: "div", ast.Pow: "pow", ast.Mod: "remainder", ast.FloorDiv: "floor_divide",
}  # fmt: skip
SPACES = ("torch", "F", "nn", "math")


def double_where(case: Case, origin: Any, where: Any) -> list[Trial]:
    """where(c, f(where(c, x, 1.0)), y): what is dropped is computed from a harmless number."""
    if not isinstance(where, ast.Call):
        return []
    condition, chosen = _condition(case, origin, where)
    operand = dangerous(origin)
    if condition is None:
        return []
    if operand is None or not case.is_here(operand):
        return _all_names(case, origin, condition, chosen)
    sides = (case.whole(operand), "1.0") if chosen else ("1.0", case.whole(operand))
    safe = f"torch.where({case.whole(condition)}, {sides[0]}, {sides[1]})"
    edits = [replace(case, operand, safe)]
    return [Trial(advised(case, origin, edits), tuple(edits), "finite")]


def _all_names(case: Case, origin: Any, condition: ast.expr, chosen: bool) -> list[Trial]:
    """The same for each name that the condition is about, within the expression."""
    asked = {part.id for part in ast.walk(condition) if isinstance(part, ast.Name)}
    text = case.whole(condition)
    edits = []
    for part in ast.walk(origin):
        if isinstance(part, ast.Name) and part.id in asked and part.id not in SPACES:
            sides = (part.id, "1.0") if chosen else ("1.0", part.id)
            edits.append(replace(case, part, f"torch.where({text}, {sides[0]}, {sides[1]})"))
    return [Trial(advised(case, origin, edits), tuple(edits), "finite")] if edits else []


def _condition(case: Case, origin: Any, where: ast.Call) -> tuple[ast.expr | None, bool]:
    """The condition of a mask, and whether the dangerous branch is the one that it chooses."""
    word = name_of(where)
    function = where.func
    method = isinstance(function, ast.Attribute) and not (
        isinstance(function.value, ast.Name) and function.value.id in SPACES
    )
    if word == "where" and len(where.args) == 3:
        inside = any(part is where.args[2] for part in case.ancestors(origin))
        named = isinstance(where.args[2], ast.Name) and _made_by(case, where.args[2].id, origin)
        return where.args[0], not (inside or named)
    if word == "where" and method and where.args:
        return where.args[0], True
    if word.startswith("masked_fill"):
        arguments = where.args if method else where.args[1:]
        return (arguments[0] if arguments else None), False
    return None, True


def _made_by(case: Case, name: str, origin: Any) -> bool:
    statement = case.statement(origin)
    return isinstance(statement, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == name for target in statement.targets
    )


def _domain(origin: Any) -> Domain | None:
    """Where the operation of an expression is finite; None where it always is."""
    if isinstance(origin, ast.BinOp):
        word = SIGNS.get(type(origin.op), "")
    else:
        word = name_of(origin)
    return domain_of(word) if word and not _is_whole_power(origin) else None


def _is_whole_power(origin: Any) -> bool:
    """x**3, x.pow(2): finite wherever the number is small enough."""
    if isinstance(origin, ast.BinOp):
        part: ast.expr | None = origin.right if isinstance(origin.op, ast.Pow) else None
    else:
        part = next(reversed(origin.args), None) if name_of(origin) == "pow" else None
    return isinstance(part, ast.Constant) and type(part.value) is int


def dangerous(origin: Any) -> ast.expr | None:
    """The operand from which an operation makes NaN: that of sqrt and log, the second of /."""
    domain = _domain(origin)
    second = domain is not None and bool(domain.of)
    if isinstance(origin, ast.BinOp):
        return None if domain is None else origin.right if second else origin.left
    if not isinstance(origin, ast.Call):
        return None
    function = origin.func
    own: list[ast.expr] = list(origin.args)
    if isinstance(function, ast.Attribute):
        root: Any = function.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if not (isinstance(root, ast.Name) and root.id in SPACES):
            own.insert(0, function.value)
    return own[second] if len(own) > second else None


def bounded(case: Case, origin: Any) -> list[Trial]:
    """The operand kept away from where the operation is not finite."""
    trials = [*_finite_fill(case, origin), *_of_one(case, origin), *_apart(case, origin)]
    trials += [*_log_of_sum(case, origin), *_softplus(case, origin)]
    part = dangerous(origin)
    if part is not None and case.is_here(part):
        trials += [*_in_one_piece(case, origin, part), *_bounds(case, origin, part)]
        trials += bounded(case, part)  # a norm that is divided by, whose slope is infinite at 0
    return trials


def _of_one(case: Case, origin: Any) -> list[Trial]:
    """std of one element: with correction=0 it is 0, and no 0 / 0."""
    if not isinstance(origin, ast.Call) or name_of(origin) not in ("std", "var"):
        return []
    if any(word.arg in ("unbiased", "correction") for word in origin.keywords):
        return []
    edits = with_keyword(case, origin, "correction", "0")
    above = case.parents.get(id(origin))
    if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Div) and above.right is origin:
        edits = [replace(case, origin, f"({rewritten(case, origin, edits)} + {SMALL})")]
    return [Trial(advised(case, origin, edits), tuple(edits), "finite")]


def _log_of_sum(case: Case, origin: Any) -> list[Trial]:
    """log(exp(x).sum()) as one function, in which exp does not overflow."""
    parts = [part for part in case.ancestors(origin) if isinstance(part, ast.Call)][:3]
    given = next(iter(operands(origin)), None) if isinstance(origin, ast.Call) else None
    if [name_of(part) for part in parts] != ["exp", "sum", "log"] or given is None:
        return []
    total, text = parts[1], case.whole(given)
    own = operands(total)[1:]
    along = [*map(case.whole, own), *(case.whole(word) for word in total.keywords)]
    whole = f"torch.logsumexp({text if along else f'{operand(text)}.flatten()'}, "
    edits = [replace(case, parts[2], f"{whole}{', '.join(along) or 0})")]
    return [Trial(advised(case, parts[2], edits), tuple(edits), "finite")]


def _softplus(case: Case, origin: Any) -> list[Trial]:
    """log(1 + exp(x)) and log1p(exp(x)) as one function, in which exp does not overflow."""
    if not isinstance(origin, ast.Call) or name_of(origin) != "exp":
        return []
    given = next(iter(operands(origin)), None)
    _, total, outer, *_ = (*case.ancestors(origin), None, None, None)
    whole = total if isinstance(total, ast.Call) and name_of(total) == "log1p" else None
    if isinstance(total, ast.BinOp) and _is_one_more(total) and isinstance(outer, ast.Call):
        whole = outer if name_of(outer) == "log" else None
    if given is None or whole is None:
        return []
    edits = [replace(case, whole, f"torch.nn.functional.softplus({case.whole(given)})")]
    return [Trial(advised(case, whole, edits), tuple(edits), "finite")]


def _is_one_more(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.Add) and (_is_one(node.left) or _is_one(node.right))


def _apart(case: Case, origin: Any) -> list[Trial]:
    """Eigenvectors of equal eigenvalues, by whose difference their slope divides."""
    if not isinstance(origin, ast.Call) or name_of(origin) not in ("eigh", "svd"):
        return []
    given = next(iter(operands(origin)), None)
    if given is None or not case.is_here(given):
        return []
    text = case.whole(given)
    apart = f"{text} + torch.linspace(0, 1e-3, {operand(text)}.shape[-1]).diag()"
    if name_of(origin) == "svd":  # of a matrix with any sides
        apart = f"{text} + torch.linspace(0, 1e-3, {operand(text)}.numel()).view_as({text})"
    edits = [replace(case, given, apart)]
    return [
        Trial(f"{advised(case, origin, edits)}: equal ones are moved apart", tuple(edits), "finite")
    ]


def _finite_fill(case: Case, origin: Any) -> list[Trial]:
    """masked_fill(mask, -inf) with a finite number: a row that is masked as a whole stays one."""
    if not isinstance(origin, ast.Call) or not case.is_here(origin):
        return []
    given = [*origin.args, *(word.value for word in origin.keywords)]
    edits = [replace(case, part, FINITE) for part in given if _is_least(part)]
    return [Trial(advised(case, origin, edits), tuple(edits), "finite")] if edits else []


FINITE = "-1e9"  # exp of it is 0, as of -inf


def _is_least(part: ast.expr) -> bool:
    """-torch.inf, float('-inf'), -float('inf')"""
    text = ast.unparse(part).replace('"', "'").replace(" ", "").lower()
    if text in ("float('-inf')", "-float('inf')", "float('-infinity')"):
        return True
    return text in {f"-{space}.inf" for space in ("torch", "math", "np", "numpy")}


def _in_one_piece(case: Case, origin: Any, part: ast.expr) -> list[Trial]:
    """log(softmax(x)) as one function, which has a slope where softmax rounds to 0; also
    log(1 - sigmoid(x)), and the sigmoid that is written out."""
    if name_of(origin) != "log":
        return []
    rest = part.right if _is_one_less(part) else None
    base = part.value if isinstance(part, ast.Subscript) else rest or part
    chosen = case.whole(part)[len(case.whole(base)) :] if rest is None else ""  # [0, 1]
    maker = _made(case, base, origin)
    of_logistic = _of_logistic(maker)
    if of_logistic is not None:
        text = case.whole(of_logistic)
        whole, given = logarithm_of("sigmoid"), [text if rest is None else f"-{operand(text)}"]
    elif isinstance(maker, ast.Call) and rest is None:
        whole, given = logarithm_of(name_of(maker)), [case.whole(one) for one in operands(maker)]
        given += [f"{word.arg}={case.whole(word.value)}" for word in maker.keywords if word.arg]
    else:
        return []
    edits = [replace(case, origin, f"{whole}({', '.join(given)}){chosen}")]
    return [Trial(advised(case, origin, edits), tuple(edits), "finite")] if whole else []


def _made(case: Case, base: ast.expr, origin: Any) -> Any:
    """The expression that made what is used at a place, where a name stands for it."""
    if not isinstance(base, ast.Name):
        return base
    made = [step.node for step in case.steps if case.line(step.node) <= case.line(origin)
            and _binds(case.statement(step.node), base.id, step.node)]  # fmt: skip
    return made[-1] if made else None


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _is_one_less(node: ast.expr) -> TypeGuard[ast.BinOp]:
    """1 - x"""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _is_one(node.left)


def _of_logistic(node: Any) -> ast.expr | None:
    """x of sigmoid(x) and of 1 / (1 + exp(-x))."""
    if isinstance(node, ast.Call):
        return next(iter(operands(node)), None) if name_of(node) == "sigmoid" else None
    total = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) else None
    if not isinstance(total, ast.BinOp) or not isinstance(total.op, ast.Add):
        return None
    one, power = (total.left, total.right) if _is_one(total.left) else (total.right, total.left)
    if not (_is_one(node.left) and _is_one(one)) or name_of(power) != "exp":
        return None
    given = next(iter(operands(power)), None) if isinstance(power, ast.Call) else None
    return given.operand if isinstance(given, ast.UnaryOp) and _is_minus(given) else None


def _is_minus(node: ast.UnaryOp) -> bool:
    return isinstance(node.op, ast.USub)


def _binds(statement: Any, name: str, value: Any) -> bool:
    """Whether a statement gives this value this name, and nothing else."""
    return isinstance(statement, ast.Assign) and statement.value is value and [
        target.id for target in statement.targets if isinstance(target, ast.Name)
    ] == [name]  # fmt: skip


def _bounds(case: Case, origin: Any, part: ast.expr) -> list[Trial]:
    domain = _domain(origin)
    if domain is None:
        return []
    moved = _within(case.whole(part), domain)
    if isinstance(origin, ast.BinOp) and isinstance(part, ast.BinOp) and domain.nonzero:
        if not isinstance(part.op, ast.Pow):  # 1 / (x - 1) has its brackets, 1 / x**2 has none
            moved = moved[1:-1]
    edits = [replace(case, part, moved)]
    return [Trial(advised(case, origin, edits), tuple(edits), "finite")]


def _within(text: str, domain: Domain) -> str:
    """An operand moved off 0, or held within bounds."""
    if domain.nonzero:
        return f"({text} + {SMALL})"
    low = "" if domain.low is None else f"{domain.low:g} + {SMALL}" if domain.low else SMALL
    if domain.high is None:
        return f"{operand(text)}.clamp(min={low})"
    if domain.low is None:
        return f"{operand(text)}.clamp(max={domain.high})"
    return f"{operand(text)}.clamp({low}, {domain.high:g} - {SMALL})"
