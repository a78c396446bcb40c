"""Runs of agents -> lessons: by rules, or by a language model."""
