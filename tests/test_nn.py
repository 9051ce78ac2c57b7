"""Tests: modules, their starting values, hooks and printed forms, against PyTorch."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from programs_under import compare, sections

import gradcli

PROGRAMS = sections(Path(__file__).parent / "programs" / "networks.txt")


@pytest.mark.parametrize("title", PROGRAMS)
def test_program(title: str) -> None:
    compare(PROGRAMS[title])


@pytest.mark.parametrize("name", import_module("gradcli.nn").__all__)
def test_every_public_name_exists(name: str) -> None:
    """What a class says programs may use is there, on the class or on an instance."""
    made = getattr(gradcli.nn, name)
    assert isinstance(made.PUBLIC, tuple)
    assert not [word for word in made.PUBLIC if word.startswith("_")]


def test_listing_names_loads_no_array_library() -> None:
    program = "import sys, gradcli.nn, gradcli.optim; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_name_stands_in_one_place() -> None:
    module = gradcli.nn.Module()
    module.w = 3
    module.w = gradcli.nn.Parameter(gradcli.ones(2))
    assert [name for name, _ in module.named_parameters()] == ["w"]
    assert "w" not in vars(module)
