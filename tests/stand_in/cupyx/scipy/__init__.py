"""Stand-in for CuPy: its part of SciPy."""
