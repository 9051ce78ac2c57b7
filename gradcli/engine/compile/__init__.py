"""Engine: functions written from rows: what a call runs, and what a node runs."""
