"""Stand-in for CuPy: the special functions that CuPy has of SciPy's."""

from __future__ import annotations

import scipy.special
from cupy._functions import functions_of

globals().update(functions_of("cupyx.scipy.special", scipy.special))
