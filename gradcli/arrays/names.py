"""arrays: the object behind a dotted name below numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy

from . import functions, joining, methods, operators, printing, streams, ufuncs
from .limits import Errstate, finfo, geterr, iinfo, seterr
from .table import CLASSES, LEGACY, functions as listed, rows
from .values import Array, ArrayType, AxisError, LinAlgError, wrap

operators.attach()
printing.attach()
methods.attach()
streams.attach()
ufuncs.attach()

CONSTANTS: dict[str, Any] = {
    "pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan,
    "euler_gamma": float(numpy.euler_gamma), "newaxis": None, "__version__": numpy.__version__,
}  # fmt: skip
WRITTEN: dict[str, Any] = {
    "apply_along_axis": functions.apply_along_axis, "fromfunction": functions.fromfunction,
    "fromiter": functions.fromiter, "frombuffer": functions.frombuffer,
    "vectorize": functions.vectorize,
    "ndindex": functions.ndindex, "ndenumerate": functions.ndenumerate,
    "shares_memory": functions.shares_memory, "dtype": ArrayType, "finfo": finfo, "iinfo": iinfo,
    "array2string": printing.array2string, "array_str": printing.array_str,
    "array_repr": printing.array_repr,
    "format_float_positional": printing.format_float_positional,
    "format_float_scientific": printing.format_float_scientific,
    "set_printoptions": printing.set_printoptions, "get_printoptions": printing.get_printoptions,
    "printoptions": printing.Printing, "errstate": Errstate, "seterr": seterr, "geterr": geterr,
    "random.default_rng": streams.default_rng, "random.RandomState": streams.RandomState,
    "random.Generator": streams.Generator, "ndarray": Array,
    "linalg.LinAlgError": LinAlgError, "exceptions.AxisError": AxisError,
}  # fmt: skip
WRITTEN.update({name: joining.Joining(name) for name in joining.OBJECTS})
WRITTEN["s_"] = joining.Sliced()
OF_THE_STREAM = frozenset([*rows(LEGACY), "seed", "get_state", "set_state"])


def resolve(name: str) -> Any:
    """A name of the table; no others occur."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    if name in WRITTEN:
        return WRITTEN[name]
    space, _, last = name.rpartition(".")
    if space == "random" and last in OF_THE_STREAM:
        return streams.function(last)
    if name in listed():
        return ufuncs.Ufunc(name) if name in ufuncs.UFUNCS else functions.function(name)
    assert name in CLASSES, name
    return wrap(functions.numpys_own(numpy, name))
