"""Contains programs that send the same requests to every surface of kebab."""
