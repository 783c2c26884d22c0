"""Benchmarks that compare whole kebab processes with yardsticks of the same run."""
