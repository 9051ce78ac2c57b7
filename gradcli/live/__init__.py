"""Live: PyTorch itself, run by Python itself, told to the spectators of an interpreted program.

Nothing here, PyTorch least of all, is loaded before it is needed.
"""
