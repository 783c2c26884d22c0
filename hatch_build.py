"""Decides how the command is installed.

On Windows it is an entry point, for which pip writes a program. Elsewhere it is a script file: the
entry points that pip before 25 writes import `re`, which takes a third of the time of a warm call.
A wheel that is built on Windows is therefore one for Windows.
"""

import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

IS_WINDOWS = sysconfig.get_platform().startswith("win")


class EntryPoint(MetadataHookInterface):
    """Names the entry point where it is needed."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the command to the metadata."""
        metadata["scripts"] = {"kebab": "kebab.__main__:run"} if IS_WINDOWS else {}


class Script(BuildHookInterface):
    """Adds the pages of the documentation, and the script file where there is no entry point."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the script to a wheel, editable or not."""
        del version
        if self.target_name != "wheel":
            return
        for page in Path(self.root, "docs").glob("*.md"):
            build_data["force_include"][str(page)] = f"kebab/_data/docs/{page.name}"
        if IS_WINDOWS:
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"py3-none-{platform}"
        else:
            build_data["shared_scripts"] = {"scripts/kebab": "kebab"}
