"""The command line: parses arguments, calls the facade, and prints its replies."""
