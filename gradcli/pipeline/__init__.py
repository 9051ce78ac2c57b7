"""Pipeline: the corridor from text to facts; the only room that has seen every other.

bytes -> Source -> Program -> values of its inputs -> run -> Report. One function for each arrow:
`run.execute`, then one of `reports` or `gradients`. Each is imported where it is needed.
"""
