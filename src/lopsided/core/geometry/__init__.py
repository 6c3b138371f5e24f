"""Points and how alike they are: rows, stored points, kernels, scales."""
