"""From files to durable rows and vectors: scan, compare, prepare, commit, embed."""
