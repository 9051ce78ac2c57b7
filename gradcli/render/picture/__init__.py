"""Render: pictures of a backward pass: one scene, laid out once, written in several formats."""
