"""The compiled step of the online Bayesian ranker."""
