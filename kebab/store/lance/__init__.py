"""The vector index: rebuilt from the truth whenever it is lost."""
