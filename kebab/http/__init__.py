"""The HTTP server: one route for each operation."""
