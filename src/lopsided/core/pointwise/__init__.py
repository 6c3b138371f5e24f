"""Learners that judge an example by its own score: expansions, rules, budgets, votes."""
