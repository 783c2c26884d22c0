"""Declares the ports of ingest to files: the parser of a media type and the scanner of folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kebab.core.documents import ParsedDocument
    from kebab.core.files import ScanResult, ScanRules, SeenFiles


class Parser(Protocol):
    """Converts the bytes of one media type to text with blocks."""

    @property
    def version(self) -> str:
        """The label that is stored with parsed documents, e.g. `markdown-v1`."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The bytes are not what the media type promises.
        """


def is_isolated(parser: Parser) -> bool:
    """Return whether a parser runs native code or expands its input, and so needs a worker."""
    return bool(getattr(parser, "isolated", False))


class FileScanner(Protocol):
    """Finds the files of a source that can be documents."""

    def scan(
        self,
        root: str,
        rules: ScanRules,
        *,
        below: str = "",
        claimed: Mapping[str, str] | None = None,
        tick: Callable[[], None] = ...,
    ) -> ScanResult:
        """Return the files of the folder `below` in `root`, sorted by path.

        `claimed` gives, by absolute path, the reason for which a folder or file is skipped.
        `tick` is called once for each folder.

        Raises:
            OSError: The folder itself cannot be listed.
        """

    def scan_again(
        self,
        root: str,
        rules: ScanRules,
        seen: SeenFiles,
        *,
        claimed: Mapping[str, str],
        tick: Callable[[], None] = ...,
    ) -> ScanResult:
        """Return the files that were not seen in the changed folders and in new folders below.

        `tick` is called once for each folder. Folders that cannot be listed have no files.
        """

    def add_named_files(
        self, found: ScanResult, root: str, paths: Iterable[str], rules: ScanRules
    ) -> None:
        """Add files that the user named, or the reasons why they cannot be documents."""

    def find_skip_reason(
        self, root: str, rules: ScanRules, path: str, *, folder: bool
    ) -> str | None:
        """Return why the rules skip an entry below the root, or None."""
