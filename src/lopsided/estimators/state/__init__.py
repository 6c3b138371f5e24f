"""The state of a learner as arrays: checked on the way in, written as one file."""
