"""Recording: what is kept of a run, each kind of fact in one part; `facts` are plain Python types.

`recording` has all parts, `spectator` the events by which they observe a run, `passes` what they
know of each backward pass. `collect` turns tensors and nodes into facts; what PyTorch's public face
does not say of these is asked of `sides`.
"""
