"""Settings: their declaration, loading, paths and documentation."""
