"""The engine: tensors, nodes and the walk back; no operator, no program text, no report."""
