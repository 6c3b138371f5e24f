"""Kernel learners: rankers of pairs, classifiers with and without a budget, several kernels."""
