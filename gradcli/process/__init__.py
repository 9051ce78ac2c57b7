"""process: what holds for the whole process of a command: time, memory, signals, its end."""
