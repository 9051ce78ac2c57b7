"""language: from the text of a program to its values: parsing half first, running half behind it."""
