"""The learner for rare events: what happens to one row."""
