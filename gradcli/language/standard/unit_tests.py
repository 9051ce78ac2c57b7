"""language: unittest: cases, their assertions, and runs of them.

Python reports a run on standard error. Here notes say what failed and how many tests ran; a runner
with a stream of the program's writes there what Python writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any
from weakref import WeakSet

from ...engine.schema.settable import Takes
from ..attributes import KEPT_BYTES, get_attribute
from ..builtins.errors import ERRORS, matches, message_of, name_of
from ..builtins.types import host_type
from ..calls import call
from ..classes import ClassValue, is_instance as is_of_program, kind_of
from ..classes.instances import StaticMethod
from ..compile.flow import catchable
from ..formatting import text
from ..operations import collect
from ..session import session
from ..values import Builtin, Function
from .assertions import Assertions
from .clock import tick
from .publishing import classes, functions
from .system import SYS, leave
from .tracebacks import format_current


class SkipTest(Exception):
    _torch_name = "unittest.case.SkipTest"


class _Expected(Exception):
    """A test that was expected to fail has failed."""


class _Unexpected(Exception):
    """One that was expected to fail has passed."""


class TestCase(Assertions):
    """unittest.TestCase: a class of the program has methods whose names begin with `test`."""

    _torch_name = "unittest.case.TestCase"
    EXTENSIBLE = True
    TAKES: Mapping[str, Takes] = {"*": Takes.VALUE}
    PUBLIC = (
        "setUp", "tearDown", "setUpClass", "tearDownClass", "id", "shortDescription", "skipTest",
        "addCleanup", "doCleanups", "subTest", "run", "debug", "countTestCases",
    )  # fmt: skip

    def __init__(self, methodName: str = "runTest") -> None:
        self._method = methodName
        self._cleanups: list[Callable[[], Any]] = []
        self._result: TestResult | None = None

    def setUp(self) -> None:
        """Runs before each test."""

    def tearDown(self) -> None:
        """Runs after each test."""

    @classmethod
    def setUpClass(cls) -> None:
        """Runs before the first test of a class."""

    @classmethod
    def tearDownClass(cls) -> None:
        """Runs after the last test of a class."""

    def id(self) -> str:
        return f"__main__.{kind_of(self).qualified}.{self._method}"

    def shortDescription(self) -> str | None:
        doc = getattr(kind_of(self).find(self._method), "doc", None)
        return doc.strip().split("\n")[0].strip() if doc else None

    def skipTest(self, reason: Any) -> None:
        raise SkipTest(text(reason))

    def addCleanup(self, function: Any, /, *args: Any, **kwargs: Any) -> None:
        session.budget.charge_bytes(KEPT_BYTES)
        self._cleanups.append(lambda: call(function, args, kwargs))

    def doCleanups(self) -> None:
        while self._cleanups:
            self._cleanups.pop()()

    def subTest(self, msg: Any = None, **params: Any) -> SubTest:
        return SubTest(self, msg, params)

    def run(self, result: Any = None) -> Any:
        result = TestResult() if result is None else result
        result.started(self)
        self._result = result
        told = result.told
        body: Any = getattr(kind_of(self).find(self._method), "function", None)
        _attempt(self, result, body if body in SKIPPED else lambda: _run_method(self))
        _attempt(self, result, self.doCleanups)
        if result.told == told:
            result.tell(".", "ok")
        return result

    def debug(self) -> None:
        _run_method(self)
        self.doCleanups()

    def countTestCases(self) -> int:
        return 1


# What stands for a test that is skipped: nothing is set up for it.
SKIPPED: WeakSet[Callable[..., Any]] = WeakSet()


def _asked(case: Any, name: str) -> Any:
    return call(get_attribute(case, name), (), {})


def _run_method(case: Any) -> None:
    _asked(case, "setUp")
    try:
        _asked(case, case._method)
    finally:
        _asked(case, "tearDown")


def _attempt(case: Any, result: TestResult, work: Callable[[], Any], params: str = "") -> None:
    """What goes wrong is noted, and the next test runs."""
    try:
        work()
    except Exception as error:
        if not catchable(error) or matches(error, ERRORS["SystemExit"]):
            raise
        result.failed(case, error, params)


class SubTest:
    """What `with self.subTest(...)` enters."""

    _torch_name = "contextlib._GeneratorContextManager"
    PUBLIC = ()

    def __init__(self, case: Any, msg: Any, params: dict[str, Any]) -> None:
        self._case = case
        told = [] if msg is None else [f"[{text(msg)}]"]
        if params:
            told.append(f"({', '.join(f'{name}={text(value)}' for name, value in params.items())})")
        self._params = " ".join(told)

    def __enter__(self) -> None:
        """Nothing is prepared."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        result = self._case._result
        if error is None or result is None or not catchable(error):
            return False
        result.failed(self._case, error, f" {self._params}")
        return True


# ---------------------------------------------------------------- results and runs


class TestResult:
    _torch_name = "unittest.runner.TextTestResult"
    PUBLIC = ("testsRun", "failures", "errors", "skipped", "expectedFailures",
              "unexpectedSuccesses", "wasSuccessful")  # fmt: skip
    TAKES: Mapping[str, Takes] = {}

    def __init__(self, stream: Any = None, verbosity: Any = 0) -> None:
        self._stream, self._verbosity, self._on_new_line = stream, verbosity, True
        self.testsRun = 0
        self.failures: list[Any] = []
        self.errors: list[Any] = []
        self.skipped: list[Any] = []
        self.expectedFailures: list[Any] = []
        self.unexpectedSuccesses: list[Any] = []
        self.told = 0  # how many outcomes
        self.reports: list[tuple[str, str]] = []  # of what failed: title, traceback
        self.notes: list[str] = []

    def wasSuccessful(self) -> bool:
        return not (self.failures or self.errors or self.unexpectedSuccesses)

    def write(self, said: str) -> None:
        if self._stream is not None:
            call(get_attribute(self._stream, "write"), (said,), {})

    def started(self, case: Any) -> None:
        self.testsRun += 1
        if self._verbosity > 1:
            doc = case.shortDescription()
            self.write(f"{_title(case)}{'' if doc is None else chr(10) + doc} ... ")
            self._on_new_line = False

    def tell(self, sign: str, words: str, part: str = "") -> None:
        """One outcome; `part` is the title of a subtest, which has a line of its own."""
        session.budget.charge_bytes(KEPT_BYTES)
        self.told += 1
        if self._verbosity > 1:
            above = "" if self._on_new_line else "\n"
            self.write(f"{above}  {part} ... {words}\n" if part else f"{words}\n")
            self._on_new_line = True
        elif self._verbosity:
            self.write(sign)

    def failed(self, case: Any, error: Exception, params: str = "") -> None:
        if isinstance(error, SkipTest):
            self.skipped.append((case, str(error)))
            self.tell("s", f"skipped {str(error)!r}")
            return
        if isinstance(error, _Expected):
            self.expectedFailures.append((case, ""))
            self.tell("x", "expected failure")
            return
        if isinstance(error, _Unexpected):
            self.unexpectedSuccesses.append(case)
            self.tell("u", "unexpected success")
            self.notes.append(f"UNEXPECTED SUCCESS: {_title(case)}")
            return
        fails = matches(error, ERRORS["AssertionError"])
        session.handle(error)
        try:
            trace = format_current()
        finally:
            session.handling.remove(error)
        word, kept = ("FAIL", self.failures) if fails else ("ERROR", self.errors)
        kept.append((case, trace))
        self.tell(word[0], word, f"{_title(case)}{params}" if params else "")
        title = f"{word}: {_title(case)}{params}"
        self.reports.append((title, trace))
        line = getattr(error, "line_here", None)
        place = "" if line is None else f", line {line}"
        self.notes.append(f"{title}{place}: {name_of(error)}: {message_of(error)}")


def _title(case: Any) -> str:
    if isinstance(case, ClassValue):
        return f"setUpClass (__main__.{case.qualified})"
    return f"{case._method} ({case.id()})"


class TestSuite:
    """Tests that run one after another; setUpClass runs where a class begins."""

    _torch_name = "unittest.suite.TestSuite"
    PUBLIC = ("addTest", "addTests", "countTestCases", "run")

    def __init__(self, tests: Any = ()) -> None:
        self._tests: list[Any] = []
        self.addTests(tests)

    def addTest(self, test: Any) -> None:
        session.budget.charge_bytes(KEPT_BYTES)
        self._tests.append(test)

    def addTests(self, tests: Any) -> None:
        for test in collect(tests):
            self.addTest(test)

    def __iter__(self) -> Any:
        return iter(self._tests)

    def countTestCases(self) -> int:
        return len(list(self.cases()))

    def cases(self) -> Iterable[Any]:
        for test in self._tests:
            if isinstance(test, TestSuite):
                yield from test.cases()
            else:
                yield test

    def run(self, result: Any = None) -> Any:
        result = TestResult() if result is None else result
        current: Any = None
        usable = True
        for case in self.cases():
            kind = kind_of(case)
            if kind is not current:
                self._ended(current, usable, result)
                current, before = kind, result.told
                _attempt(kind, result, partial(_asked, kind, "setUpClass"))
                usable = result.told == before
            if usable:
                call(get_attribute(case, "run"), (result,), {})
        self._ended(current, usable, result)
        return result

    def _ended(self, kind: Any, usable: bool, result: TestResult) -> None:
        if kind is not None and usable:
            _attempt(kind, result, lambda: _asked(kind, "tearDownClass"))


class TestLoader:
    """unittest.defaultTestLoader"""

    _torch_name = "unittest.loader.TestLoader"
    PUBLIC = ("loadTestsFromTestCase", "loadTestsFromModule", "getTestCaseNames")

    def getTestCaseNames(self, testCaseClass: Any) -> list[str]:
        names = {name for base in testCaseClass.order for name in base.table}
        return sorted(
            name for name in names
            if name.startswith("test") and type(testCaseClass.find(name)) in (Function, Builtin)
        )  # fmt: skip

    def loadTestsFromTestCase(self, testCaseClass: Any) -> TestSuite:
        if not is_case(testCaseClass):
            raise TypeError("a class that builds on TestCase is expected")
        names = self.getTestCaseNames(testCaseClass)
        return TestSuite([call(testCaseClass, (name,), {}) for name in names])

    def loadTestsFromModule(self, module: Any = None) -> TestSuite:
        found = [session.names[name] for name in sorted(session.names)]
        own = {id(kind): kind for kind in found if is_case(kind)}
        return TestSuite([self.loadTestsFromTestCase(kind) for kind in own.values()])


def is_case(kind: Any) -> bool:
    native = kind.native if isinstance(kind, ClassValue) else None
    return isinstance(native, type) and issubclass(native, TestCase)


class TextTestRunner:
    _torch_name = "unittest.runner.TextTestRunner"
    PUBLIC = ("run",)

    def __init__(
        self, stream: Any = None, descriptions: Any = True, verbosity: Any = 1,
        failfast: Any = False, buffer: Any = False, **others: Any,
    ) -> None:  # fmt: skip
        self._stream, self._verbosity = stream, verbosity

    def run(self, test: Any) -> TestResult:
        start = tick()
        shown = None if self._stream is SYS["stderr"] else self._stream
        result = TestResult(shown, self._verbosity if shown is not None else 0)
        call(get_attribute(test, "run"), (result,), {})
        if shown is None:
            _noted(result)
            return result
        parts = ["\n"] if self._verbosity else []
        for title, trace in result.reports:
            parts += ["=" * 70, f"\n{title}\n", "-" * 70, f"\n{trace}\n"]
        seconds = (tick() - start) / 1e9
        plural = "" if result.testsRun == 1 else "s"
        parts += ["-" * 70, f"\nRan {result.testsRun} test{plural} in {seconds:.3f}s\n\n"]
        result.write("".join((*parts, _verdict(result), "\n")))
        return result


def _verdict(result: TestResult) -> str:
    counts = {
        "failures": result.failures, "errors": result.errors, "skipped": result.skipped,
        "expected failures": result.expectedFailures,
        "unexpected successes": result.unexpectedSuccesses,
    }  # fmt: skip
    told = ", ".join(f"{word}={len(found)}" for word, found in counts.items() if found)
    word = "OK" if result.wasSuccessful() else "FAILED"
    return f"{word} ({told})" if told else word


def _noted(result: TestResult) -> None:
    plural = "" if result.testsRun == 1 else "s"
    for note in (*result.notes, f"ran {result.testsRun} test{plural}: {_verdict(result)}"):
        session.budget.charge_output(note)
        session.notes.setdefault(note)


class TestProgram:
    """unittest.main(): runs all cases that the program has bound to names."""

    _torch_name = "unittest.main.TestProgram"
    PUBLIC = ("result",)

    def __init__(
        self, module: Any = "__main__", defaultTest: Any = None, argv: Any = None,
        testRunner: Any = None, testLoader: Any = None, exit: Any = True, verbosity: Any = 1,
        failfast: Any = None, catchbreak: Any = None, buffer: Any = None, warnings: Any = None,
    ) -> None:  # fmt: skip
        runner = testRunner if testRunner is not None else TextTestRunner(verbosity=verbosity)
        if not is_of_program(runner) and type(runner) is not TextTestRunner:
            runner = call(runner, (), {"verbosity": verbosity})
        loader = TestLoader() if testLoader is None else testLoader
        suite = call(get_attribute(loader, "loadTestsFromModule"), (module,), {})
        self.result = call(get_attribute(runner, "run"), (suite,), {})
        if exit:
            leave(not call(get_attribute(self.result, "wasSuccessful"), (), {}))


# ---------------------------------------------------------------- decorators


def _instead(item: Any, run: Callable[..., Any]) -> Any:
    """A test with another body; of a class, each of its tests."""
    if isinstance(item, ClassValue):
        for name in TestLoader().getTestCaseNames(item):
            item.table[name] = _instead(item.find(name), run)
        for name in ("setUpClass", "tearDownClass"):
            item.table[name] = StaticMethod(Builtin(name, lambda: None))
        return item
    name = item.name if type(item) in (Function, Builtin) else "test"
    return Builtin(name, run, is_method=True)


def _skip(reason: Any = "") -> Any:
    if type(reason) is Function or isinstance(reason, ClassValue):
        return _skip("")(reason)

    def decorate(item: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> None:
            raise SkipTest(text(reason))

        SKIPPED.add(run)
        return _instead(item, run)

    return Builtin("decorator", decorate)


def _skip_if(condition: Any, reason: Any = "") -> Any:
    return _skip(reason) if condition else Builtin("decorator", lambda item: item)


def _expected_failure(test_item: Any) -> Any:
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            call(test_item, args, kwargs)
        except Exception as error:
            if not catchable(error):
                raise
            raise _Expected from None
        raise _Unexpected

    return _instead(test_item, run)


MODULES: dict[str, dict[str, Any]] = {
    "unittest": {
        **classes([TestCase, TestResult, TestSuite, TestLoader, TextTestRunner]),
        **functions({
            "skip": _skip, "skipIf": _skip_if, "expectedFailure": _expected_failure,
            "skipUnless": lambda condition, reason="": _skip_if(not condition, reason),
            "main": TestProgram,
        }),
        "SkipTest": host_type(SkipTest), "defaultTestLoader": TestLoader(),
    },
}  # fmt: skip
classes([SubTest, TestProgram])
