"""Text for people, drawn from the very objects that `--json` prints."""
