"""The engine: tensors, nodes and the backward pass; no operator, no program text, no report.

Its folders are floors, from the bottom up, and none asks upwards. To read first:

    schema    `operator`, `row`, `signature`: what a declaration says, and what it becomes
    memory    `device`, `layout`: where arrays live, and how they lie
    graph     `node`, `leaf`, `hooks`
    tensors   `tensor`, `saved`, `views`, `construct`
    compile   `call` and `fast_path` forward, `formula` backward: functions written from rows
    passes    `backward`, `fast_backward`, `full_backward`

docs/architecture.md shows what a call and a node run.
"""
