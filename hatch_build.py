"""Adds the pages of the documentation to a wheel."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Pages(BuildHookInterface):
    """Adds the pages that `kebab help` shows."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the pages to a wheel, editable or not."""
        del version
        if self.target_name == "wheel":
            for page in Path(self.root, "docs").glob("*.md"):
                build_data["force_include"][str(page)] = f"kebab/_data/docs/{page.name}"
