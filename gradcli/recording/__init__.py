"""Recording: what happened in a run, as frozen facts of plain Python types."""
