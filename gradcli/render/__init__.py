"""Render: facts to text, one module for each output language."""
