"""The watcher: follows changes of files and keeps the index current."""
