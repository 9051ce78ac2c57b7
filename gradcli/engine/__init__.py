"""The engine: tensors, nodes and the backward pass; no operator, no program text, no report."""
