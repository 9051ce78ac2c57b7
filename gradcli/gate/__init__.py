"""gate: `gradcli check` in other hands: pytest, and whoever checks programs one after the other."""
