"""The version of the prompt, apart so that telling it loads nothing else."""

VERSION = "rag-v1"
"""Changes with every word of the prompt."""
