"""language: sklearn: the samples, splits, scalers and scores of first lessons."""
