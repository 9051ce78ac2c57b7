"""language: from a checked tree to closures: one file for each kind of syntax."""
