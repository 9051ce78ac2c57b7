"""arrays: what `import numpy as np` gives a program: a closed list of names, charged by size.

Nothing of NumPy's own reaches a program: an array is an `Array`, a number a `Number`, and every
function binds, converts, pays, calls NumPy and wraps what comes back. `table` lists the names
without loading NumPy.
"""
