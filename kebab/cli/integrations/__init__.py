"""Installs kebab in the clients of agents: a skill, and an entry in the list of MCP servers."""
