"""Which files of a folder are documents, and what kind they are."""
