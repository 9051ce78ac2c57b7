"""Tests: modules, their starting values, hooks and printed forms, against PyTorch."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

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
    hidden = {word for word in made.PUBLIC if word.startswith("_")}
    assert hidden <= {
        "_check_input_dim",
        "_conv_forward",
        "_get_name",
    }  # which classes of programs override, and call


def test_listing_names_loads_no_array_library() -> None:
    program = "import sys, gradcli.nn, gradcli.optim; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_name_stands_in_one_place() -> None:
    module = gradcli.nn.Module()
    module.w = 3
    module.w = gradcli.nn.Parameter(gradcli.ones(2))
    assert [name for name, _ in module.named_parameters()] == ["w"]
    assert "w" not in vars(module)


@pytest.mark.parametrize("kind", ["Conv2d", "ConvTranspose2d"])
def test_a_convolution_of_many_windows_is_made_in_pieces(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> list[Any]:
        gradcli.manual_seed(0)
        layer = getattr(gradcli.nn, kind)(4, 6, 3, stride=2, padding=1, groups=2)
        x = gradcli.randn(7, 4, 9, 8, requires_grad=True)
        out = layer(x)
        out.square().sum().backward()
        return [out, x.grad, layer.weight.grad]

    whole = run()
    monkeypatch.setattr("gradcli.operators.nn.convolution_kernels.MOST_WINDOWS", 2000)
    for piece, expected in zip(run(), whole, strict=True):
        assert gradcli.allclose(piece, expected, atol=1e-6)
