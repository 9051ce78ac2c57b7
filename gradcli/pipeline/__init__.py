"""Pipeline: from text to what a run left; it knows no question.

bytes -> Source -> Program -> values of its inputs -> run -> Ran: `run.execute`, and `live` where
Python and PyTorch run the program. Each is imported where it is needed.
"""
