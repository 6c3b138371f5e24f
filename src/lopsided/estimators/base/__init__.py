"""What every learner has in common: validation, labels, thresholds, randomness, the online frame."""
