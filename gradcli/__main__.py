"""gradcli as `python -m gradcli`."""

from .cli import main

if __name__ == "__main__":
    main()
