"""Linear learners: one weight vector, or many side by side."""
