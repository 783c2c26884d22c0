"""The ingest pipeline: scan, compare, build, store, embed."""
