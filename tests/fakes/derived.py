"""Keeps derived content in memory."""


class MemoryContent:
    """A `DerivedContent`; `writes` counts how often it was replaced."""

    def __init__(self, content: bytes | None = None) -> None:
        self.content = content
        self.writes = 0

    def read(self) -> bytes | None:
        return self.content

    def write(self, content: bytes) -> None:
        self.content = content
        self.writes += 1
