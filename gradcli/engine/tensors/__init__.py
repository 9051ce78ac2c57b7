"""Engine: the tensor, how it is made from values, its views, and what nodes save of it."""
