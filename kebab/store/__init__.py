"""Contains the stores: the database in SQLite, the vectors in LanceDB."""
