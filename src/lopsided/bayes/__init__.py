"""Variational Bayes for ranking with many kernels: the model of B2RMK, its sweeps, and the online step of OB2RMK.

Numbers only, as in `core`: labels -1/+1, no checks. The letters are those of the model, which `docs/papers.md` maps to
the paper: a weighs the samples, e the kernels, b shifts; G is what the kernels say, f the scores; theta makes the hinge
of each pair Gaussian; v and c are the precisions of G and f.
"""
