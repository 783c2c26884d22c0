"""Which texts an embedding model can read, by their script."""

from kebab.text.scripts import is_written_in as known

__all__ = ["known"]
