"""Operators: the layers of torch.nn.functional, and the losses."""
