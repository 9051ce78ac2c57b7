"""The engine: tensors, nodes and the walk back. It knows no operator, no program text and no report."""
