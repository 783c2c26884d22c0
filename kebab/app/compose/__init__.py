"""The composition root: the only package that names adapters. Each is built on first use."""

from kebab.app.compose.workshop import SystemClock, Workshop, index_version

__all__ = ["SystemClock", "Workshop", "index_version"]
