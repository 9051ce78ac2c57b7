"""library: torch.nn.parallel: a module over several devices."""
