"""The command line: parses, calls the facade, and draws the wire objects it gets."""
