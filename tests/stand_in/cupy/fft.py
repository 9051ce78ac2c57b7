"""Stand-in for CuPy: Fourier transforms."""

from __future__ import annotations

import numpy

from ._functions import functions_of

globals().update(functions_of("cupy.fft", numpy.fft))
