"""Engine: backward() and grad(): the ordinary pass, and the one that can be watched."""
