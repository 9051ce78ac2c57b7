"""Questions: the backward passes of a program, node by node."""
