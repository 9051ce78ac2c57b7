"""Questions: `gradcli ops`: what the rows of operators say, and what a run adds."""
