"""Live: PyTorch itself, run by Python itself, told to the spectators of an interpreted program.

Nothing here is loaded, PyTorch least of all, before somebody asks for it.
"""
