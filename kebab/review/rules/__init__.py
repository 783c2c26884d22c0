"""The rules that need no language model."""
