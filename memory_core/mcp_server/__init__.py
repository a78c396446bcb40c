"""The bank as tools for agents, over the Model Context Protocol."""
