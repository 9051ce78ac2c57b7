"""Engine: what a declaration says, what it becomes, and how a call is bound by it."""
