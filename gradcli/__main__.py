"""gradcli as `python -m gradcli`."""

from .entry import process

if __name__ == "__main__":
    process()
