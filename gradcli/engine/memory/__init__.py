"""Engine: where arrays live, and how they lie in memory."""
