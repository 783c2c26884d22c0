"""Installs the files by which other programs learn to use kebab, and removes them again."""

import difflib
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kebab.app.init import keep_copy
from kebab.errors.system import translate_os_errors
from kebab.wire.command_help import InstallReport

_WHEEL = Path(__file__).parents[1] / "_data" / "integrations"
_CHECKOUT = Path(__file__).parents[2] / "integrations"
_SKILL = Path("claude-code", "kebab", "SKILL.md")
_TARGET = Path("skills", "kebab", "SKILL.md")
_CLAUDE_FOLDER = ".claude"
_CLAUDE_VARIABLE = "CLAUDE_CONFIG_DIR"

Change = Literal["create", "replace", "keep", "remove", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFile:
    """The skill of a coding agent: the text of this version, and the file that the agent reads."""

    path: Path
    wanted: str
    found: str | None
    """The text of the file, None when there is none."""

    def plan_change(self, *, uninstall: bool) -> Change:
        """Return what is to be done with the file."""
        if uninstall:
            return "none" if self.found is None else "remove"
        if self.found is None:
            return "create"
        return "keep" if self.found == self.wanted else "replace"


def load_skill(scope: Literal["user", "project"], environ: Mapping[str, str]) -> SkillFile:
    """Return the skill for Claude Code.

    Raises:
        IoError: A file cannot be read.
    """
    source = (_WHEEL if _WHEEL.exists() else _CHECKOUT) / _SKILL
    path = find_claude_folder(scope, environ) / _TARGET
    with translate_os_errors(path, "read"):
        found = path.read_text("utf-8", errors="replace") if path.exists() else None
    return SkillFile(path=path, wanted=source.read_text("utf-8"), found=found)


def find_claude_folder(scope: Literal["user", "project"], environ: Mapping[str, str]) -> Path:
    """Return the folder of Claude Code's settings for this user or this project."""
    if scope == "project":
        return Path.cwd() / _CLAUDE_FOLDER
    named = environ.get(_CLAUDE_VARIABLE)
    return Path(named).expanduser() if named else Path.home() / _CLAUDE_FOLDER


def apply_change(skill: SkillFile, change: Change) -> InstallReport:
    """Change the file; a text that kebab did not bring is kept as a copy beside it.

    Raises:
        IoError: A file cannot be written.
    """
    backup = None
    with translate_os_errors(skill.path, "write"):
        if change in ("replace", "remove"):
            backup = keep_copy(skill.path, skill.wanted)
        if change in ("create", "replace"):
            skill.path.parent.mkdir(parents=True, exist_ok=True)
            draft = skill.path.with_name(f".{skill.path.name}.{os.getpid()}")
            draft.write_text(skill.wanted, "utf-8")
            draft.replace(skill.path)
        elif change == "remove":
            skill.path.unlink()
            with suppress(OSError):  # older copies are still in it
                skill.path.parent.rmdir()
    return InstallReport(
        integration="claude-code",
        path=str(skill.path),
        change=change,
        backup=None if backup is None else str(backup),
    )


def format_change(skill: SkillFile, change: Change) -> list[str]:
    """Return the difference that a change makes, as a unified diff."""
    before = (skill.found or "").splitlines()
    after = [] if change == "remove" else skill.wanted.splitlines()
    name = str(skill.path)
    return [
        line.rstrip("\n") for line in difflib.unified_diff(before, after, name, name, lineterm="")
    ]
