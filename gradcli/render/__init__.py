"""Render: facts to text, one module for each output language.

A page is lines of cells (`text`), escaped when they are made (`escape`), and painted for a pipe or
for a terminal (`look`, `terminal`). Pages of graphs share `graph`, `tree` and `folds`.
"""
