"""The truth: documents, chunks, the word index and what is known of each vector."""

from kebab.errors.system import translate_import_errors

with translate_import_errors("the index", "apsw"):
    import apsw as _apsw  # noqa: F401 - the modules here load it at once, and this speaks first
