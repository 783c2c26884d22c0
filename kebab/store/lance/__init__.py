"""Contains the vector index, which can always be rebuilt from the database."""
