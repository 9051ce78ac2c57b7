"""Questions: each is asked of a run and answered in facts."""
