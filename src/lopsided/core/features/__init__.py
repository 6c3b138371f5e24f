"""Learners in explicit features: random waves, landmarks, class moments."""
