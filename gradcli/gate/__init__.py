"""gate: `gradcli check` for other programs: pytest, and callers that check programs one by one."""
