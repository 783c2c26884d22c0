"""Where what was read is kept: the truth in SQLite, vectors in LanceDB."""
