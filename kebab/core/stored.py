"""The names under which the library keeps single values, and the source without a folder."""

EMBEDDING_VERSION = "embedding_version"
"""Names the model of the knowledge base's vectors; absent before the first."""

CURSOR_SALT = "cursor_salt"
"""Signs the cursors of this knowledge base."""

VECTORS_DIRTY = "vectors_dirty"
"""Set while vectors may be ahead of the library."""

STDIN = "stdin"
"""The source of texts that came from standard input."""
