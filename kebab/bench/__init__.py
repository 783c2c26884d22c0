"""Benchmarks: whole processes of kebab against yardsticks that are measured in the same run."""
