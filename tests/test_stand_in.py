"""Tests of the stand-in for CuPy: it refuses what CuPy refuses, so that what runs on it may run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
from cuda_here import STAND_IN, standing_in

from gradcli.engine.memory.device import Device, array_module
from gradcli.engine.memory.library import ON_HOST


@pytest.fixture(scope="module")
def cupy() -> Iterator[Any]:
    with standing_in():
        import cupy

        yield cupy


REFUSED = {
    "numpy.asarray(x)": (TypeError, "Implicit conversion to a NumPy array is not allowed"),
    "x + numpy.ones(3)": (TypeError, "Unsupported type <class 'numpy.ndarray'>"),
    "numpy.ones(3) + x": (TypeError, "Unsupported type <class 'numpy.ndarray'>"),
    "cupy.concatenate([numpy.ones(3)])": (TypeError, "can be concatenated"),
    "cupy.sin([1.0])": (TypeError, "Unsupported type <class 'list'>"),
    "cupy.sum(1.0)": (TypeError, "Unsupported type"),
    "cupy.add(x, 1, where=True)": (TypeError, "unexpected keyword argument 'where'"),
    "x.sum(initial=0)": (TypeError, "unexpected keyword argument 'initial'"),
    "cupy.spacing": (AttributeError, "spacing"),
    "cupy.errstate": (AttributeError, "errstate"),
    "cupy.linalg.svdvals": (AttributeError, "svdvals"),
    "x.__array_interface__": (AttributeError, "__array_interface__"),
    "range(x[0])": (TypeError, "cannot be interpreted as an integer"),
    "cupy.maximum.accumulate(x)": (NotImplementedError, "not supported yet"),
    "cupy.maximum.reduce(x)": (NotImplementedError, "not supported yet"),
    "cupy.floor(x + 1j)": (TypeError, "Wrong type"),
    "cupy.sort(cupy.array(1.0))": (ValueError, "rank of zero"),
    "cupy.repeat(x, cupy.array([1, 2, 3]))": (ValueError, "repeats"),
    "cupy.array('text')": (ValueError, "Unsupported dtype"),
    "cupy.lexsort((x, x))": (TypeError, "array of keys"),
    "cupy.add.at(cupy.arange(3), cupy.array([0]), 1)": (TypeError, "scatter_add only supports"),
    "x.__setitem__(slice(None), numpy.ones(3))": (ValueError, "non-scalar numpy.ndarray"),
    "cupy.linalg.inv(cupy.eye(2, dtype='float16'))": (TypeError, "float16 is unsupported"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(cupy: Any, text: str) -> None:
    error, words = REFUSED[text]
    with pytest.raises(error) as caught:
        eval(text, {"numpy": numpy, "cupy": cupy, "x": cupy.arange(3.0)})
    assert words in str(caught.value)


def test_what_it_does_otherwise(cupy: Any) -> None:
    x = cupy.arange(4.0)
    assert x.sum().shape == () and type(x.sum()) is type(x[0]) is cupy.ndarray
    assert x[cupy.array([5, -1])].tolist() == [1.0, 3.0]  # out of bounds: around
    x[0].fill(9)
    assert x[0] == 9  # an element is a view
    x[cupy.array([1, 1])] = cupy.array([5.0, 6.0])
    assert x[1] == 5  # of several writers not the last
    cupy.add.at(x, cupy.array([2, 2]), cupy.array([1.0, 1.0]))
    assert x[2] == 4
    assert numpy.isnan(cupy.linalg.inv(cupy.zeros((2, 2))).get()).all()  # no error
    assert x[1:].base is x and x.get() is not x.get()


LIBRARY = {
    "xp.maximum.accumulate(x)": [2.0, 2.0, 3.0],
    "xp.logaddexp.accumulate(x * 0)": [0.0, 0.6931, 1.0986],
    "xp.add.reduce(x)": 6.0,
    "xp.linalg.inv(xp.eye(2) * 2)": [[0.5, 0.0], [0.0, 0.5]],
    "xp.linalg.svd(xp.eye(2))[1]": [1.0, 1.0],
    "xp.spacing(x)[0]": 0.0,
    "xp.repeat(x, xp.asarray([0, 1, 2]))": [1.0, 3.0, 3.0],
    "xp.broadcast_to(2.0, (2,))": [2.0, 2.0],
    "xp.isin(2.0, x)": True,
    "xp.unique(x)": [1.0, 2.0, 3.0],
    "xp.logical_and(x + 0j, 1)": [True, True, True],
    "xp.sin(x)": [0.9093, 0.8415, 0.1411],
    "xp.geomspace(1, 4, 3)": [1.0, 2.0, 4.0],
}


@pytest.mark.parametrize("text", LIBRARY)
def test_what_cupy_lacks_is_computed_on_the_host(cupy: Any, text: str) -> None:
    xp = array_module(Device("cuda"))
    found = eval(text, {"xp": xp, "x": cupy.array([2.0, 1.0, 3.0])})
    assert type(found) is cupy.ndarray
    assert numpy.allclose(found.get(), LIBRARY[text], atol=1e-4)


@pytest.mark.parametrize("kind", ["int64", "int8", "bool", "int32", "float16", "float64"])
def test_adding_at_places(cupy: Any, kind: str) -> None:
    array = cupy.zeros(3, dtype=kind)
    array_module(Device("cuda")).add.at(array, cupy.array([1, 1]), cupy.ones(2, dtype=kind))
    assert array.tolist() == [0, 1 if kind == "bool" else 2, 0]


def test_the_page_reports_what_is_computed_on_the_host() -> None:
    page = (STAND_IN.parents[1] / "docs" / "cuda.md").read_text("utf-8")
    table = {line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| `")}
    assert table == {f"`{name}`" for name in ON_HOST}


def test_a_name_that_no_one_has(cupy: Any) -> None:
    with pytest.raises(AttributeError, match="neither cupy nor numpy has linalg"):
        _ = array_module(Device("cuda")).linalg.nonsense


def test_the_record_is_cupys() -> None:
    """What was written down still holds for the CuPy that is installed; it needs no GPU."""
    command = [sys.executable, str(STAND_IN / "record.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No module named 'cupy'" in done.stderr:
        pytest.skip("no CuPy here: what was written down of it is not compared")
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
