"""Tests: PyTorch's answers, from PyTorch itself or, where it is not installed, from records.

The only test module that imports torch. A question is a function in QUESTIONS and JSON arguments;
its answer is JSON too. `pytest --record` asks PyTorch again and rewrites tests/recorded.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).parent / "recorded"
QUESTIONS: dict[str, Callable[..., Any]] = {}

try:
    if os.environ.get("GRADCLI_WITHOUT_TORCH"):
        raise ImportError
    import torch
except ImportError:
    torch = None
else:
    torch.set_num_threads(1)
    # Some warnings come once in a process, so an answer would depend on the tests before it.
    torch.set_warn_always(True)
    # Each seed is kept for devices that never start, with a formatted stack, which is most of the
    # time and the memory that seeds take in thousands of tests.
    for devices in () if torch.cuda.is_available() else (torch.cuda, torch.xpu, torch.mtia):
        devices.manual_seed_all = lambda seed: None


def question(function: Callable[..., Any]) -> Callable[..., Any]:
    """Registers a question: it gets the torch module first, then the arguments."""
    assert function.__name__ not in QUESTIONS, f"two questions are called {function.__name__}"
    QUESTIONS[function.__name__] = function
    return function


class Oracle:
    """Answers, and keeps count of where they came from."""

    def __init__(self) -> None:
        self.recording = False
        self.pruning = False  # forget what is not asked again; only when every test runs
        self.live = self.recalled = 0
        self.missing: list[str] = []
        self._records: dict[str, dict[str, Any]] = {}

    @property
    def has_torch(self) -> bool:
        return torch is not None

    def ask(self, name: str, *arguments: Any) -> Any:
        """PyTorch's answer; skips the test when there is neither PyTorch nor a record."""
        import pytest

        key = json.dumps(arguments, separators=(",", ":"))
        if torch is not None:
            self.live += 1
            # Whoever compiles something, in any test, turns it off for good.
            torch.distributions.Distribution.set_default_validate_args(True)
            answer = json.loads(json.dumps(QUESTIONS[name](torch, *arguments)))
            if self.recording:
                self._recorded(name)[key] = answer
            return answer
        if key not in self._recorded(name):
            self.missing.append(f"{name} {key[:80]}")
            pytest.skip(f"no PyTorch, and no record of {name}{key[:80]}")
        answer = self._recorded(name)[key]
        if sys.version_info >= (3, 12) and "OrderedDict([" in json.dumps(answer):
            pytest.skip("the record has Python 3.11's words for an OrderedDict")
        self.recalled += 1
        return answer

    def _recorded(self, name: str) -> dict[str, Any]:
        if name not in self._records:
            path = RECORDS / f"{name}.json"
            known = path.exists() and not self.pruning
            self._records[name] = json.loads(path.read_text("utf-8")) if known else {}
        return self._records[name]

    def write(self) -> list[str]:
        """Writes what was asked, one line an answer, so that a change reads well in a diff."""
        RECORDS.mkdir(exist_ok=True)
        for name, answers in self._records.items():
            rows = (
                f"{json.dumps(key)}: {json.dumps(answers[key], separators=(',', ':'))}"
                for key in sorted(answers)
            )
            text = "{\n" + ",\n".join(rows) + "\n}\n"
            (RECORDS / f"{name}.json").write_text(text, encoding="utf-8")
        return sorted(self._records)

    def summary(self) -> str:
        if torch is not None:
            return f"oracle: PyTorch {torch.__version__} answered {self.live} questions"
        return (
            f"oracle: PyTorch is not installed; {self.recalled} answers from records, "
            f"{len(self.missing)} questions without a record were skipped"
        )


oracle = Oracle()
