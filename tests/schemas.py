"""Tests: documents held against their schemas, each of which is read and looked at once."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

SCHEMAS = Path(__file__).parent.parent / "gradcli" / "schemas"


@cache
def schema(name: str) -> jsonschema.Validator:
    """What says whether a document fits the schema of this name."""
    text = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(text)
    return jsonschema.Draft202012Validator(text)


def fits(document: Any, name: str) -> None:
    """Fails where it does not."""
    schema(name).validate(document)
