"""Embedding models: which there are, how their weights are had, and how text becomes vectors."""
