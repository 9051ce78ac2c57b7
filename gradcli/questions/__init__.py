"""Questions: each is asked of a run and answered in facts.

A question has a module or a package of its name; that of `grad --order` is `derivatives`. Several
share `graph` (tensors and nodes with the places and names of the program), `shown_pass`,
`provenance` (what came from what), `interventions` (what options do to tensors) and `cure` (the
program changed and run again).
"""
