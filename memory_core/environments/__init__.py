"""Worlds that an agent can act in; each answers to the protocol Environment of the loop."""
