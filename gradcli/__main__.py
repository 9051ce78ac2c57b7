"""gradcli as `python -m gradcli`.

Python looks for modules in the current folder first then, and the files there may be a stranger's:
a `typing.py` among them would run. What is loaded before this file, no code of ours can save from
that; `python -P -m gradcli` and the command `gradcli` do not look there at all.
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]

from .door import process

if __name__ == "__main__":
    process()
