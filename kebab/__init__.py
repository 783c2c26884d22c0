"""kebab: a local-first knowledge base for the terminal."""

__version__ = "0.1.0"
