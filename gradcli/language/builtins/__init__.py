"""language: Python's builtins as programs have them, every loop counted."""
