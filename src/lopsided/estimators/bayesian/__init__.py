"""The Bayesian multiple-kernel rankers."""
