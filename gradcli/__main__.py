"""gradcli as `python -m gradcli`."""

from .door import process

if __name__ == "__main__":
    process()
