"""Numbers only: float64 arrays, labels -1 and +1, compiled functions. No checks, no input, no output."""
