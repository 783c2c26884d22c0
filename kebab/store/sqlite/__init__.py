"""Contains the database: documents, chunks, the word index and the state of each vector.

What opens or writes a file raises `IoError` when the file system refuses, and `StoreCorrupt` for a
damaged file. Docstrings name other errors.
"""

from kebab.errors.system import translate_import_errors

with translate_import_errors("the index", "apsw"):
    import apsw as _apsw  # noqa: F401 - reports a missing apsw before a module here imports it
