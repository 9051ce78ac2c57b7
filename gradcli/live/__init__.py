"""Live: PyTorch itself, run by Python itself, told to the spectators of an interpreted program.

`recorder` brings the parts together: `operations` hears of what PyTorch computes, `passes` of its
backward passes, `rewrite` of the names that a program binds, and `side` answers for its tensors and
nodes. `program` runs a file, `session` records code that is running already. Nothing here, PyTorch
least of all, is loaded before it is needed.
"""
