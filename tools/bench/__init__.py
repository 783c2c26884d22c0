"""Benchmarks for the developers of kebab; run `python -m tools.bench --help`."""
