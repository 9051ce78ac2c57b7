"""Render: the colours of pictures, light and dark: every pair of text and ground has 4.5 to 1."""

from __future__ import annotations

FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"

LIGHT = {
    "page": "#ffffff", "text": "#1b1f24", "dim": "#57606a", "inner": "#f6f8fa", "edge": "#7d8590",
    "leaf": "#e9f7ee", "leaf-edge": "#1a7f37", "result": "#fff6d6", "result-edge": "#9a6700",
    "fold": "#eef0fb", "fold-edge": "#5560b5", "plus": "#1f5fae", "minus": "#9c4310",
    "zero": "#656d76", "bad": "#b3121d", "grad": "#0b4a93", "chosen": "#cfe3ff",
}  # fmt: skip
DARK = {
    "page": "#0d1117", "text": "#e6edf3", "dim": "#9aa4af", "inner": "#161b22", "edge": "#717b86",
    "leaf": "#10261a", "leaf-edge": "#3fb950", "result": "#2a2110", "result-edge": "#d29922",
    "fold": "#181c35", "fold-edge": "#8f9bf0", "plus": "#79b8ff", "minus": "#ffab70",
    "zero": "#9aa4af", "bad": "#ff8f87", "grad": "#9ccbff", "chosen": "#1d3a5f",
}  # fmt: skip

BASE = f"""
.gradcli text{{font:12px {FONT};white-space:pre}}
.gradcli .wire text{{font-size:11px}}
.gradcli .t{{font-weight:600}}
.gradcli .bad{{font-weight:700}}
.gradcli .wire path{{fill:none}}
.gradcli .box rect{{stroke-width:1.2}}
.gradcli .result rect{{stroke-width:2.6}}
.gradcli .again rect,.gradcli .chip{{stroke-dasharray:3 3}}
.gradcli .fold rect{{stroke-dasharray:6 3}}
.gradcli .none .shape{{stroke-dasharray:1.5 3}}
.gradcli .isbad .shape{{stroke-width:2.8}}
.gradcli .wire.zero path{{stroke-dasharray:5 4}}
.gradcli .wire.nothing path{{stroke-dasharray:1.5 4}}
.gradcli .wire.bad path{{stroke-width:3.4}}
"""


def _scheme(c: dict[str, str]) -> str:
    return f"""
.gradcli .page{{fill:{c["page"]}}}
.gradcli text{{fill:{c["text"]}}}
.gradcli .k,.gradcli .n,.gradcli .c{{fill:{c["dim"]}}}
.gradcli .g{{fill:{c["grad"]}}}
.gradcli .box rect{{fill:{c["inner"]};stroke:{c["edge"]}}}
.gradcli .leaf rect,.gradcli .again rect{{fill:{c["leaf"]};stroke:{c["leaf-edge"]}}}
.gradcli .result rect{{fill:{c["result"]};stroke:{c["result-edge"]}}}
.gradcli .fold rect{{fill:{c["fold"]};stroke:{c["fold-edge"]}}}
.gradcli .o{{fill:{c["fold-edge"]}}}
.gradcli .box .chip{{fill:none;stroke:{c["edge"]};stroke-width:1}}
.gradcli .isbad .shape{{stroke:{c["bad"]}}}
.gradcli .bad{{fill:{c["bad"]}}}
.gradcli .wire path{{stroke:{c["plus"]}}}
.gradcli .wire text{{fill:{c["plus"]}}}
.gradcli .wire.minus path{{stroke:{c["minus"]}}}
.gradcli .wire.minus text{{fill:{c["minus"]}}}
.gradcli .wire.zero path,.gradcli .wire.nothing path{{stroke:{c["zero"]}}}
.gradcli .wire.zero text,.gradcli .wire.nothing text{{fill:{c["zero"]}}}
.gradcli .wire.bad path{{stroke:{c["bad"]}}}
.gradcli .wire.bad text{{fill:{c["bad"]}}}
.gradcli .a-plus{{fill:{c["plus"]}}}.gradcli .a-minus{{fill:{c["minus"]}}}
.gradcli .a-zero{{fill:{c["zero"]}}}.gradcli .a-bad{{fill:{c["bad"]}}}
"""


def sheet(theme: str = "auto") -> str:
    """The style sheet of a picture; `auto` follows the reader's system."""
    text = BASE + _scheme(DARK if theme == "dark" else LIGHT)
    if theme == "auto":
        text += "@media (prefers-color-scheme:dark){" + _scheme(DARK) + "}"
    return "".join(line for line in text.splitlines() if line)
