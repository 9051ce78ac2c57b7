"""language: from the text of a program to its values; the parsing half loads no numpy.

Its parts, in the order of a run:

    source, parser, checking, program       text to a checked, frozen program
    compile, interpreter, budget            closures, run statement by statement, each step counted
    values, adoption, members, attributes   the closed list of values, and the one door to them
    builtins, standard, classes             Python's builtins, modules beside torch, own classes
    places, explain                         errors: labels and advice about the text
"""
