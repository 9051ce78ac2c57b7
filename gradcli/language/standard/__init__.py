"""language: the modules beside torch, one file for each group; each is loaded when it is used."""
