"""Renders text for people from the objects that `--json` prints."""
