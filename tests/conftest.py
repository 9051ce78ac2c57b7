"""Tests: what all of them share."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

# One thread is faster for small arrays, and CI shares its cores.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# Hundreds of tests start a process, and each would compile the whole package; so would each worker
# compile the tests, and PyTorch.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A job that a shell starts behind itself ignores Ctrl-C, and so would every process of a test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What failed last is remembered in the user's cache; tests have one of their own.
os.environ["XDG_CACHE_HOME"] = str(Path(tempfile.gettempdir()) / "gradcli-tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record",
        action="store_true",
        help="ask PyTorch again and rewrite tests/recorded (run without -n)",
    )


def pytest_configure(config: pytest.Config) -> None:
    if _only_hands_out(config):
        return
    gc.disable()  # until all tests are collected: they stay
    from oracle import oracle

    oracle.recording = config.getoption("--record")
    every = config.args_source is not pytest.Config.ArgsSource.ARGS
    oracle.pruning = oracle.recording and every and not config.option.keyword
    if oracle.recording and not oracle.has_torch:
        raise pytest.UsageError("--record needs PyTorch: pip install torch==2.13.0")


# The main paths of every room in about a minute: `pytest -m quick`.
QUICK = frozenset(
    {"engine", "expressions", "language", "grad", "optim", "paths", "step", "why", "check"}
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Half of a quick run would be spent in collecting the tests that it leaves out."""
    is_file = collection_path.suffix == ".py" and config.option.markexpr == "quick"
    return True if is_file and not _is_quick(collection_path) else None


def pytest_collection_finish() -> None:
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _is_quick(item.path):
            item.add_marker("quick")


def _is_quick(path: Path) -> bool:
    return path.stem.removeprefix("test_") in QUICK


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "cuda" in metafunc.fixturenames:
        from cuda_here import asked

        metafunc.parametrize("cuda", asked(), indirect=True, scope="module")


@pytest.fixture(scope="module")
def cuda(request: pytest.FixtureRequest) -> Iterator[float]:
    """A CUDA device, or its stand-in; the value says how far numbers may be from the CPU's."""
    from cuda_here import place

    with place(request.param) as close:
        yield close


def _only_hands_out(config: pytest.Config) -> bool:
    """The process that runs no test itself need not wait for PyTorch."""
    return bool(getattr(config.option, "numprocesses", None))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--record") and not hasattr(session.config, "workerinput"):
        from oracle import oracle

        session.config.stash[_written] = oracle.write()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    config = terminalreporter.config
    if not _only_hands_out(config):
        from oracle import oracle

        terminalreporter.write_line(oracle.summary())
    elif os.environ.get("GRADCLI_WITHOUT_TORCH") or find_spec("torch") is None:
        terminalreporter.write_line("oracle: PyTorch is not installed; answers came from records")
    for name in config.stash.get(_written, ()):
        terminalreporter.write_line(f"oracle: recorded tests/recorded/{name}.json")


_written = pytest.StashKey[list[str]]()


@pytest.fixture(autouse=True, scope="module")
def left_alone() -> Iterator[None]:
    """What stays from earlier modules is not looked through again by each full collection."""
    gc.collect()
    gc.freeze()
    yield


@pytest.fixture(autouse=True)
def fresh_modes() -> Iterator[None]:
    """Every test starts with PyTorch's defaults, whatever the one before it left behind: under
    its own engine and, where programs run under it, in PyTorch."""
    from oracle import oracle

    from gradcli.engine.schema.run_state import as_new

    with as_new():
        yield
    if oracle.has_torch:
        import torch

        torch.set_printoptions(profile="default")
        torch.set_default_device(None)  # with one, a mode calls each function a second time
