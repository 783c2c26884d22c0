"""The MCP server: the tools and resources of agents."""
