"""Pipeline: from text to a recording; the only room that knows every other.

bytes -> Source -> Program -> values of its inputs -> run -> Report. One function for each arrow:
`run.execute`, then one of `reports` or `gradients`. Each is imported where it is needed.
"""
