"""Runs kebab with the primitives of Windows or macOS, on Linux."""
