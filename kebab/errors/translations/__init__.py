"""The messages and hints in other languages: one module for each, loaded on first use."""
