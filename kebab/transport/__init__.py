"""HTTP to model servers: where they listen, deadlines, and the one table of what httpx raises."""
