"""language: from the text of a program to its values; the parsing half loads no numpy."""
