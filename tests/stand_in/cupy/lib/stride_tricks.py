"""Stand-in for CuPy: windows into memory."""

from __future__ import annotations

import numpy

from .._functions import functions_of

globals().update(functions_of("cupy.lib.stride_tricks", numpy.lib.stride_tricks))
