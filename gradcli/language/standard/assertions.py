"""language: the assertions of unittest, with Python's messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arithmetic import BINARY
from ..builtins.errors import matches, value_of
from ..builtins.prelude import PRELUDE
from ..builtins.types import is_instance, type_of
from ..calls import call
from ..compile.flow import catchable
from ..formatting import quoted, text
from ..operations import COMPARE, collect, contains, equal
from .publishing import classes
from .words import compiled


def _unless(holds: Any, standard: Callable[[], str], msg: Any) -> None:
    """Fails with the standard words, and what the program has to say behind them."""
    if not holds:
        said = standard()
        raise AssertionError(said if msg is None else f"{said} : {text(msg)}")


def _ordered(word: str, said: str) -> Callable[..., None]:
    compare = COMPARE[word]

    def check(self: Any, a: Any, b: Any, msg: Any = None) -> None:
        _unless(compare(a, b), lambda: f"{quoted(a)} {said} {quoted(b)}", msg)

    return check


_DIFFER = {"list": "Lists", "tuple": "Tuples"}


def _difference(first: Any, second: Any) -> str:
    name = getattr(type_of(first), "name", "")
    pair = f"{quoted(first)} != {quoted(second)}"
    same = name == getattr(type_of(second), "name", "")
    return f"{_DIFFER[name]} differ: {pair}" if same and name in _DIFFER else pair


def _distance(first: Any, second: Any) -> Any:
    return PRELUDE["abs"].function(BINARY["Sub"](first, second))


def _is_close(difference: Any, places: Any, delta: Any) -> bool:
    if delta is not None:
        return bool(COMPARE["LtE"](difference, delta))
    return bool(equal(PRELUDE["round"].function(difference, places), 0))


def _within(places: Any, delta: Any) -> str:
    return f"within {f'{places} places' if delta is None else f'{quoted(delta)} delta'}"


class Raises:
    """assertRaises: a context that an error must leave, or a call that must raise it."""

    _torch_name = "unittest.case._AssertRaisesContext"
    PUBLIC = ("exception", "expected")

    def __init__(self, expected: Any, pattern: Any = None, msg: Any = None) -> None:
        self.expected, self._pattern, self._msg = expected, pattern, msg
        self.exception: Any = None

    def __enter__(self) -> Raises:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if error is None:
            _unless(False, lambda: f"{self._names()} not raised", self._msg)
        if not catchable(error) or not matches(error, self.expected):
            return False
        self.exception = value_of(error)
        if self._pattern is not None:
            said = text(self.exception)
            given = self._pattern
            pattern = compiled(given) if type(given) is str else given
            _unless(
                pattern.search(said) is not None,
                lambda: f'"{pattern.pattern}" does not match "{said}"', self._msg,
            )  # fmt: skip
        return True

    def _names(self) -> str:
        kinds = self.expected if type(self.expected) is tuple else (self.expected,)
        names = [str(getattr(kind, "name", kind)) for kind in kinds]
        return names[0] if len(names) == 1 else f"({', '.join(map(quoted, kinds))})"

    def run(self, function: Any, args: Any, kwargs: Any) -> None:
        try:
            call(function, args, kwargs)
        except Exception as error:
            if not self.__exit__(None, error, None):
                raise
        else:
            self.__exit__(None, None, None)


class Assertions:
    """What a TestCase asserts by."""

    PUBLIC: tuple[str, ...]

    assertGreater = _ordered("Gt", "not greater than")
    assertGreaterEqual = _ordered("GtE", "not greater than or equal to")
    assertLess = _ordered("Lt", "not less than")
    assertLessEqual = _ordered("LtE", "not less than or equal to")

    def fail(self, msg: Any = None) -> None:
        raise AssertionError("None" if msg is None else text(msg))

    def assertTrue(self, expr: Any, msg: Any = None) -> None:
        _unless(expr, lambda: f"{quoted(expr)} is not true", msg)

    def assertFalse(self, expr: Any, msg: Any = None) -> None:
        _unless(not expr, lambda: f"{quoted(expr)} is not false", msg)

    def assertEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        _unless(equal(first, second), lambda: _difference(first, second), msg)

    assertListEqual = assertTupleEqual = assertDictEqual = assertSetEqual = assertEqual
    assertSequenceEqual = assertMultiLineEqual = assertEqual

    def assertNotEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        differ = COMPARE["NotEq"](first, second)
        _unless(differ, lambda: f"{quoted(first)} == {quoted(second)}", msg)

    def assertAlmostEqual(
        self, first: Any, second: Any, places: Any = None, msg: Any = None, delta: Any = None
    ) -> None:
        if equal(first, second):
            return
        places, difference = 7 if places is None else places, _distance(first, second)
        _unless(
            _is_close(difference, places, delta),
            lambda: (
                f"{quoted(first)} != {quoted(second)} {_within(places, delta)} "
                f"({quoted(difference)} difference)"
            ),
            msg,
        )

    def assertNotAlmostEqual(
        self, first: Any, second: Any, places: Any = None, msg: Any = None, delta: Any = None
    ) -> None:
        places, difference = 7 if places is None else places, _distance(first, second)
        _unless(
            not equal(first, second) and not _is_close(difference, places, delta),
            lambda: f"{quoted(first)} == {quoted(second)} {_within(places, delta)}",
            msg,
        )

    def assertIs(self, expr1: Any, expr2: Any, msg: Any = None) -> None:
        _unless(expr1 is expr2, lambda: f"{quoted(expr1)} is not {quoted(expr2)}", msg)

    def assertIsNot(self, expr1: Any, expr2: Any, msg: Any = None) -> None:
        _unless(expr1 is not expr2, lambda: f"unexpectedly identical: {quoted(expr1)}", msg)

    def assertIsNone(self, obj: Any, msg: Any = None) -> None:
        _unless(obj is None, lambda: f"{quoted(obj)} is not None", msg)

    def assertIsNotNone(self, obj: Any, msg: Any = None) -> None:
        _unless(obj is not None, lambda: "unexpectedly None", msg)

    def assertIn(self, member: Any, container: Any, msg: Any = None) -> None:
        found = contains(container, member)
        _unless(found, lambda: f"{quoted(member)} not found in {quoted(container)}", msg)

    def assertNotIn(self, member: Any, container: Any, msg: Any = None) -> None:
        found = contains(container, member)
        said = f"{quoted(member)} unexpectedly found in {quoted(container)}" if found else ""
        _unless(not found, lambda: said, msg)

    def assertIsInstance(self, obj: Any, cls: Any, msg: Any = None) -> None:
        fits = is_instance(obj, cls)
        _unless(fits, lambda: f"{quoted(obj)} is not an instance of {quoted(cls)}", msg)

    def assertNotIsInstance(self, obj: Any, cls: Any, msg: Any = None) -> None:
        fits = is_instance(obj, cls)
        _unless(not fits, lambda: f"{quoted(obj)} is an instance of {quoted(cls)}", msg)

    def assertCountEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        left = collect(second)
        for item in collect(first):
            at = next((place for place, other in enumerate(left) if equal(item, other)), None)
            _unless(at is not None, lambda: "Element counts were not equal", msg)
            del left[at or 0]
        _unless(not left, lambda: "Element counts were not equal", msg)

    def assertRegex(self, text: Any, expected_regex: Any, msg: Any = None) -> None:
        pattern = compiled(expected_regex) if type(expected_regex) is str else expected_regex
        _unless(
            pattern.search(text) is not None,
            lambda: f"Regex didn't match: {quoted(pattern.pattern)} not found in {quoted(text)}",
            msg,
        )

    def assertRaises(
        self, expected_exception: Any, /, *args: Any, msg: Any = None, **kwargs: Any
    ) -> Raises | None:
        return _raises(expected_exception, None, args, msg, kwargs)

    def assertRaisesRegex(
        self, expected_exception: Any, expected_regex: Any, /, *args: Any, msg: Any = None,
        **kwargs: Any,
    ) -> Raises | None:  # fmt: skip
        return _raises(expected_exception, expected_regex, args, msg, kwargs)


def _raises(expected: Any, pattern: Any, args: Any, msg: Any, kwargs: Any) -> Raises | None:
    context = Raises(expected, pattern, msg)
    if not args:
        return context
    context.run(args[0], args[1:], kwargs)
    return None


Assertions.PUBLIC = tuple(name for name in vars(Assertions) if name.startswith(("assert", "fail")))
classes([Raises])
