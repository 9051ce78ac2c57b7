"""language: errors of names, attributes, arguments and conditions: which word, and its value."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import islice

from ...diagnostics import Edit
from ...engine.schema.catalogue import catalogue
from ...engine.tensors.tensor import Tensor
from .. import names
from ..cut_reasons import Search
from ..explanation import (
    Explanation,
    is_alone,
    line_after,
    line_before,
    replaced,
    suffixed,
    with_argument,
)
from ..values import Bound, Function
from .carried import carried_names
from .conditions import condition, short

MOST_KEYS = 4
LONGEST = 80  # characters of a statement that advice repeats
RENAMED = {"retain_variables": "retain_graph"}  # arguments of older versions
_NO_ATTRIBUTE = re.compile(r"'(\w+)' object has no attribute '(\w+)'$")
_CALLED = re.compile(r"^([\w.<>]+)\(\) (takes|missing|got)\b")
_KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'|'(\w+)' is an invalid keyword argument")
_MISSING = re.compile(r"missing 1 required positional argument: '(\w+)'$")
_UNBOUND = re.compile(r"^(?:cannot access local variable|name) '(\w+)'")


def calls(out: Explanation, error: BaseException) -> None:
    """What the words of an ordinary Python error leave open."""
    if isinstance(error, AssertionError):
        condition(out, error)
    message = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    for kind, tell in _TOLD:
        if isinstance(error, kind):
            tell(out, message)


# ---------------------------------------------------------------- attributes and None


def _attribute(out: Explanation, message: str) -> None:
    match = _NO_ATTRIBUTE.search(message)
    function = out.place.func if isinstance(out.place, ast.Call) else out.place
    if match is None or not isinstance(function, ast.Attribute) or function.attr != match[2]:
        return
    whole = out.places.span(function)
    if whole is not None:
        out.span = whole.tail(len(function.attr))
    _of_none(out, [function.value])
    if match[2] == "backward":
        _no_backward(out, match[1], function.value)
    elif match[1] == "Tensor" and match[2] == "zero_grad":
        code = out.places.text(function.value)
        out.advise(f"{code}.grad = None, which is what zero_grad() of an optimizer does")


def _no_backward(out: Explanation, kind: str, root: ast.expr) -> None:
    """loss.backward() of something that is no tensor."""
    if kind in ("float", "int") and isinstance(root, ast.Name):
        value = out.places.bound_value(root.id)
        if value is not None:
            for reason, _ in zip(Search(out.places).of_value(value, None, None, 0), range(1)):
                out.put(reason.node, f"a Python {kind} from here on: it has no graph")
                if reason.advice is not None:
                    out.advise(reason.advice, reason.edits)
                return
        _summed(out, kind, root.id)
        _empty(out, value)
    elif kind in ("list", "tuple"):
        code = out.places.text(root)
        if code is not None:
            out.advise(f"sum({code}).backward()", replaced(out.places, root, f"sum({code})"))


def _empty(out: Explanation, value: ast.expr | None) -> None:
    """sum(losses) of a list that nothing was appended to."""
    called = out.places.called(value)
    if called is not None and called[0] == "sum" and len(called[1]) == 1:
        given = called[1][0]
        if out.places.value_of(given) == [] and (text := out.places.text(given)):
            out.put(given, f"{text} is empty: its sum is the number 0")


def _summed(out: Explanation, kind: str, name: str) -> None:
    """total += loss.item() adds up numbers."""
    sums = [
        node for node in {id(node): node for node in out.places.parents.values()}.values()
        if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == name
    ]  # fmt: skip
    for node in sums:
        called = out.places.called(node.value)
        span = out.places.span(node.value)
        if called is None or called[0] != "item" or span is None or len(called[1]) != 1:
            continue
        text = out.places.source.text_of(span).removesuffix(".item()")
        out.put(node.value, f"adds a Python {kind}, which has no graph")
        edits = replaced(out.places, node.value, text)
        out.advise(f"leave out .item() on line {node.lineno}", edits)


def _of_none(out: Explanation, operands: list[ast.expr]) -> None:
    """A .grad that is None: why, as far as the tensor itself shows."""
    for operand in operands:
        bound = out.places.bound_value(operand.id) if isinstance(operand, ast.Name) else None
        node = operand if bound is None else bound
        if not isinstance(node, ast.Attribute) or node.attr != "grad":
            continue
        tensor, code = out.places.value_of(node.value), out.places.text(node.value)
        if not isinstance(tensor, Tensor) or _has_grad(tensor):
            continue
        if not tensor.requires_grad:
            out.put(node, f"None: {code} does not require grad")
        elif not tensor.is_leaf and not tensor.retains_grad:
            out.put(node, f"None: {code} is not a leaf")
            update = _update_of(out, node, code) or _earlier_update(out, node.value, code)
            made = _made_of_leaf(out, node.value)
            if made is not None:
                edits = suffixed(out.places, made, ".detach().requires_grad_()")
                line = out.places.line(made)
                out.advise(f".detach().requires_grad_() at the end of line {line}", edits)
            elif update is not None:
                statement, changed = update
                kept = f"with torch.no_grad(): {changed}"
                edits = replaced(out.places, statement, kept)
                out.advise(f"{kept}, which leaves {code} a leaf", edits)
                _anew(out, code, out.or_else)  # something else may bind it again
            elif not _anew(out, code, out.advise):
                out.advise(f"{code}.retain_grad() before backward")
        else:
            out.put(node, f"None: no backward call has stored a gradient in {code}")
            _guarded(out, node)


def _anew(out: Explanation, code: str | None, advise: Callable[..., None]) -> bool:
    """`x = x + step` in a loop: the leaf of the first turn, and from the second on a result."""
    loop = out.places.loop_around(out.place)
    if loop is None or code not in carried_names(out, loop):
        return False
    text = f"{code} = {code}.detach().requires_grad_()"
    words = "at the end of each turn, so that the next one has a leaf"
    advise(f"{text} {words}", line_after(out.places, loop.body[-1], text))
    return True


def _guarded(out: Explanation, node: ast.expr) -> None:
    """A statement that reads a gradient which is not there yet, or not for each parameter."""
    places, statement = out.places, out.places.statement(node)
    text = None if statement is None else places.text(statement, LONGEST)
    calls = {id(part): part for part in places.parents.values() if isinstance(part, ast.Call)}
    passes = any((called := places.called(call)) is not None and called[0] == "backward"
                 for call in calls.values())  # fmt: skip
    if text is None or not passes or not isinstance(statement, (ast.Expr, ast.AugAssign)):
        return
    if is_alone(places, statement) and places.loop_around(node) is not None:
        whole = f"if {places.text(node)} is not None: {text}"
        out.advise(whole, replaced(places, statement, whole))


def _made_of_leaf(out: Explanation, node: ast.expr) -> ast.expr | None:
    """`w = torch.randn(3, requires_grad=True) / 2`: the leaf has no name, and w was meant."""
    value = out.places.bound_value(node.id) if isinstance(node, ast.Name) else None
    for part in () if value is None else ast.walk(value):
        if isinstance(part, ast.Call) and part is not value:
            if any(word.arg == "requires_grad" for word in part.keywords):
                return value
    return None


def _earlier_update(
    out: Explanation, node: ast.expr, code: str | None
) -> tuple[ast.stmt, str] | None:
    """The same where the update stands before the statement that fails."""
    bound = out.places.bound_by.get(node.id) if isinstance(node, ast.Name) else None
    update = None if bound is None else _update_of(out, bound, code)
    if update is not None and isinstance(update[0], ast.Assign):
        out.put(update[0].value, f"{code} is computed here, and no leaf from here on")
    return update


def _update_of(out: Explanation, node: ast.AST, code: str | None) -> tuple[ast.stmt, str] | None:
    """w -= lr * w.grad for w = w - lr * w.grad, which made of the leaf w something computed; and
    the statement."""
    statement = out.places.statement(node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.BinOp):
        return None
    sign = {ast.Sub: "-=", ast.Add: "+="}.get(type(statement.value.op))
    left, right = out.places.text(statement.value.left), out.places.text(statement.value.right)
    targets = [out.places.text(target) for target in statement.targets]
    if sign is None or right is None or targets != [code] or left != code:
        return None
    return statement, f"{code} {sign} {right}"


def _has_grad(tensor: Tensor) -> bool:
    return tensor._meta is not None and tensor._meta.grad is not None


# ---------------------------------------------------------------- arguments


def _arguments(out: Explanation, message: str) -> None:
    """A call whose arguments do not fit, an operand that is None, an iteration over a number."""
    called = _CALLED.match(message)
    keyword = _KEYWORD.search(message)
    if keyword is not None:
        _keyword(out, keyword[1] or keyword[2])
    if called is not None:
        _definition(out, called[1])
    missing = _MISSING.search(message)
    if missing is not None:
        _missing(out, missing[1])
    if "'NoneType'" in message:
        _of_none(out, out.places.operands(out.place))
    if "object is not iterable" in message or message == "iteration over a 0-d tensor":
        _iteration(out)
    if message.startswith(("'method' object", "'builtin_function_or_method' object")):
        _not_called(out)
    if message.startswith("unsupported operand type") and "builtin_function" in message:
        _not_an_input(out)


def _missing(out: Explanation, name: str) -> None:
    """An argument that was forgotten, where the program has something of its name."""
    call = out.place
    if isinstance(call, ast.Call) and name in out.places.values:
        text = f"{ast.unparse(call)[:-1]}{', ' if call.args or call.keywords else ''}{name})"
        if len(text) <= LONGEST:
            out.advise(text, with_argument(out.places, call, name))


def _not_an_input(out: Explanation) -> None:
    """A name that was meant as an input is a function of PyTorch's or Python's."""
    for node in out.places.operands(out.place):
        if isinstance(node, ast.Name) and node.id not in out.places.bindings:
            owner = "Python's" if node.id in names.BUILTIN_NAMES else "torch."
            kind = f"{owner} {node.id}" if owner.endswith("s") else owner + node.id
            out.put(node, f"without a value this is {kind}, a function")
            out.advise(f"--set {node.id}=1.0, or {node.id} = ... before this line")


def _keyword(out: Explanation, word: str) -> None:
    """The caret on the keyword; the nearest one that there is."""
    if not isinstance(out.place, ast.Call):
        return
    given = next((item for item in out.place.keywords if item.arg == word), None)
    span = out.places.span(given)
    if given is None or span is None:
        return
    out.span = span.head(len(word))
    near = names.suggestion(
        word, sorted(set(_parameters(out)) - {k.arg for k in out.place.keywords})
    )
    if near is None:
        near = RENAMED.get(word)
    if near is not None:
        out.advise(f"did you mean '{near}'?", [Edit(out.span, near)])


def _parameters(out: Explanation) -> Iterator[str]:
    """The parameters that the function of a call has, as far as they are known."""
    called = out.places.called(out.place)
    assert isinstance(out.place, ast.Call)
    word = called[0] if called is not None else getattr(out.place.func, "attr", "")
    value = out.places.value_of(out.place.func)
    if isinstance(value, Bound):
        value = value.function
    if isinstance(value, Function):
        yield from value.code.parameters.names
        yield from value.code.parameters.keyword_only
        return
    for table in (catalogue.functions, catalogue.methods):
        for row in getattr(table.get(word), "overloads", ()):
            yield from row.signature.names
    if word == "print":
        yield from ("sep", "end")
    yield from (
        "requires_grad",
        "dtype",
        "device",
        "retain_graph",
        "create_graph",
        "keepdim",
        "dim",
    )


def _definition(out: Explanation, name: str) -> None:
    """Where a function of the program is defined whose arguments do not fit."""
    owner, _, word = name.rpartition(".")
    owner = owner.rpartition(".")[2]
    found = [
        node
        for node in _functions(out)
        if node.name == word
        and (owner.endswith("<locals>") or _class_of(out, node) == (owner or None))
    ]
    if len(found) != 1:
        return
    (node,) = found
    line = out.places.source.line(node.lineno)
    column = node.col_offset + 1
    end = len(line.partition("#")[0].rstrip().rstrip(":")) + 1
    parameters = [item.arg for item in (*node.args.posonlyargs, *node.args.args)]
    text = "defined here"
    is_method = _class_of(out, node) is not None and not node.decorator_list
    if is_method and parameters[:1] != ["self"]:
        text = "a method's first parameter is the object itself: self"
    out.put(_At(node.lineno, column - 1, node.lineno, end - 1), text)


class _At:
    """A place of the text that is no node of the tree."""

    def __init__(self, line: int, start: int, end_line: int, end: int) -> None:
        self.lineno, self.col_offset = line, start
        self.end_lineno, self.end_col_offset = end_line, end


def _functions(out: Explanation) -> Iterator[ast.FunctionDef]:
    for node in out.places.program.scopes:
        if isinstance(node, ast.FunctionDef):
            yield node


def _class_of(out: Explanation, node: ast.FunctionDef) -> str | None:
    parent = out.places.parents.get(id(node))
    return parent.name if isinstance(parent, ast.ClassDef) else None


def _iteration(out: Explanation) -> None:
    """`for i in 3`: the caret on the 3."""
    if isinstance(out.place, ast.For):
        out.span = out.places.span(out.place.iter)
        if isinstance(out.place.iter, ast.Constant) and type(out.place.iter.value) is int:
            code = out.places.text(out.place.iter)
            if out.span is not None:
                out.advise(f"range({code})", [Edit(out.span, f"range({code})")])


def _not_called(out: Explanation) -> None:
    """net.parameters in the place of net.parameters()."""
    called = out.places.called(out.place)
    for node in called[1] if called is not None else []:
        if isinstance(node, ast.Attribute):
            code = out.places.text(node)
            out.or_else(f"{code}() with brackets", suffixed(out.places, node, "()"))


# ---------------------------------------------------------------- items, names


def _item(out: Explanation, message: str) -> None:
    """What a list or a dict has, where the program asked for something else."""
    if not isinstance(out.place, ast.Subscript):
        return
    value = out.places.value_of(out.place.value)
    if isinstance(value, (list, tuple)) and not isinstance(value, Tensor):
        out.put(out.place.value, f"{len(value)} items" if len(value) != 1 else "1 item")
        index = out.places.value_of(out.place.slice)
        shown = short(index) if type(index) is int else None
        if shown is not None:
            out.put(out.place.slice, shown)
    elif isinstance(value, dict):
        keys = (repr(key) if type(key) is str else short(key) for key in value)
        few = list(islice((key for key in keys if key is not None), MOST_KEYS + 1))
        shown = ", ".join(few[:MOST_KEYS]) + (", ..." if len(few) > MOST_KEYS else "")
        out.put(out.place.value, f"its keys: {shown}" if value else "it is empty")


def _name(out: Explanation, message: str) -> None:
    """A name that is bound elsewhere: later, in a function, or not any more."""
    match = _UNBOUND.match(message)
    if match is None:
        return
    word = match[1]
    places = [node for node in out.places.bindings.get(word, ()) if out.places.span(node)]
    here = out.places.span(out.place)
    if not places or here is None:
        return
    for node in places[:1]:
        gone = isinstance(node.ctx, ast.Del)
        last = next((n for n in reversed(places) if isinstance(n.ctx, ast.Del)), None)
        if last is not None and last.lineno <= here.line:
            out.put(last, "deleted here")
        elif not gone and node.lineno > here.line:
            out.put(node, f"{word} is bound here, later")
    if message.startswith("cannot access local variable") and word in out.places.values:
        out.note(f"{word} is bound in this function, so it is not the global {word} here")
        out.advise(f"global {word} at the start of the function, or {word} as a parameter")


def _unpacked(out: Explanation, message: str) -> None:
    """x, = ctx.saved_tensors of a forward that saves nothing, or fewer."""
    statement = out.places.statement(out.place)
    if not message.startswith("not enough values") or not isinstance(statement, ast.Assign):
        return
    around = (part for part in out.places.ancestors(statement) if isinstance(part, ast.FunctionDef))
    value, method = statement.value, next(around, None)
    if not isinstance(value, ast.Attribute) or value.attr != "saved_tensors" or method is None:
        return
    owner = out.places.parents.get(id(method))
    parts = [part for part in getattr(owner, "body", ()) if isinstance(part, ast.FunctionDef)]
    forward = next((part for part in parts if part.name == "forward"), None)
    calls = [
        node for part in parts for node in ast.walk(part)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        and node.func.attr == "save_for_backward"
    ]  # fmt: skip
    if calls:
        out.put(calls[0], f"saves {len(calls[0].args)}")
    elif forward is not None and len(parts) > 1:
        out.put(forward.body[-1], "forward ends here, and has saved no tensors")
        target = statement.targets[0]
        names = [ast.unparse(one) for one in getattr(target, "elts", ())]
        context = ast.unparse(forward.args.args[0]) if forward.args.args else "ctx"
        text = f"{context}.save_for_backward({', '.join(names)})"
        known = {one.arg for one in forward.args.args}
        edits = line_before(out.places, forward.body[-1], text) if known.issuperset(names) else None
        out.advise(f"{text} in forward", edits)


_TOLD: tuple[tuple[type[BaseException], Callable[[Explanation, str], None]], ...] = (
    (AttributeError, _attribute),
    (TypeError, _arguments),
    (LookupError, _item),
    (NameError, _name),
    (ValueError, _unpacked),
)
