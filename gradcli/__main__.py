"""gradcli as `python -m gradcli`."""

from .cli import process

if __name__ == "__main__":
    process()
