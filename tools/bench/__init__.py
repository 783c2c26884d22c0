"""Benchmarks for the developers of kebab: `versions` compares checkouts, `peers` other programs."""
