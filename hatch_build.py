"""What hatchling does beside packing: the wheel carries the manual pages, for `man gradcli`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManualPages(BuildHookInterface[Any]):
    """They are made of the declarations of the commands, which need no other package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        try:
            from gradcli.commands.man import pages
        finally:
            sys.path.remove(self.root)
        self.folder = TemporaryDirectory(prefix="gradcli-man-")
        for name, text in pages().items():
            page = Path(self.folder.name, name)
            page.write_text(text, encoding="utf-8")
            build_data["shared_data"][str(page)] = f"share/man/man1/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.folder.cleanup()
