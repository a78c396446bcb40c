"""Runs of agents, read from what their tools write."""
