"""Engine: nodes, the leaves at their ends, hooks, and gradients that wait at a node."""
