"""Settings: their declaration, loading, paths and documentation, and the tuning constants."""
