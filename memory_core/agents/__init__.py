"""Agents on the bank; each answers to the protocol Agent of the loop."""
