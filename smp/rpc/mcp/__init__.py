"""The protocol for agents that speak MCP: a dozen tools grouped by what an agent wants, over the same handlers."""
