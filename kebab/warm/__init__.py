"""The warm process: it keeps models and tables open, and runs command lines of clients."""
