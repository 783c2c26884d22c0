"""Runs the linters rumdl and typos over the documents of a review, and maps their findings.

A linter is a rule whose findings have the ids of the program, such as `rumdl:MD011`. The programs
are those of the extra `lint`; their own configuration, which they find in the repository, holds.
They count bytes of the file, findings code points of the text.
"""

import os
import shutil
import subprocess
import sys
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from kebab.core.files import resolve_links
from kebab.core.media import MARKDOWN, detect_media_type, is_code
from kebab.errors.system import format_install, translate_os_errors
from kebab.review.document import Finding, Fix, ReviewDocument
from kebab.review.rules import Rule, Surroundings
from kebab.wire.review import EditName, SeverityName
from kebab.wire.search import DegradedChannel

Report = Callable[[DegradedChannel], object]
"""Receives what a linter did not check."""

_FILES_PER_RUN = 100


class Linter(Rule):
    """A program that checks documents.

    It runs once over a document and those that follow in the review.
    """

    severity: ClassVar[SeverityName] = "warning"
    statuses: ClassVar[tuple[int, int]]
    """The exit statuses without and with findings."""
    is_for_markdown: ClassVar[bool]

    def __init__(
        self,
        files: Sequence[str] = (),
        *,
        report: Report = lambda _: None,
        program: str | None = None,
    ) -> None:
        self._files = files
        self._positions = {file: at for at, file in enumerate(files)}
        self._report = report
        beside = shutil.which(self.id, path=str(Path(sys.executable).parent))
        self._program = program or beside or shutil.which(self.id) or ""
        self._found: dict[str, tuple[object, list[Any]]] = {}
        """The findings in files that follow, each with what changes when the file does."""

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the findings of the program in a document."""
        del surroundings
        source = document.source
        if self.is_for_markdown and source.media != MARKDOWN:
            return
        if not self._program:
            self._report_fault("is not installed", format_install("kebab", ["lint"]))
            return
        with translate_os_errors(source.file, "read"):
            data = source.file.read_bytes()
        if data.removeprefix(BOM_UTF8) != source.raw.encode("utf-8", "surrogatepass"):
            self._report_fault(f"reads UTF-8 only: {source.file}")
            return
        found = (self.convert(document, data, one) for one in self._lint(document))
        yield from (one for one in found if one is not None)

    def list_arguments(self, folder: Path) -> list[str]:
        """Return the arguments before the files."""
        raise NotImplementedError

    def parse(self, output: bytes) -> list[Any]:
        """Return the findings of an output, each with its `file`."""
        raise NotImplementedError

    def convert(self, document: ReviewDocument, data: bytes, one: Any) -> Finding | None:
        """Return a finding of the program as one of the review; None when it is left out."""
        raise NotImplementedError

    def _lint(self, document: ReviewDocument) -> list[Any]:
        """Return the findings in a file, which may be known from the run over an earlier one."""
        path, root = document.source.file, document.source.root
        stamp, found = self._found.pop(str(path), (None, []))
        if stamp is not None and stamp == _read_stamp(str(path)):
            return found
        at = self._positions.get(str(path), len(self._files)) + 1
        following = (
            one
            for one in self._files[at : at + _FILES_PER_RUN - 1]
            if Path(one).is_relative_to(root)
            and not (self.is_for_markdown and detect_media_type(one) != MARKDOWN)
        )
        stamps = {one: _read_stamp(one) for one in (str(path), *following)}
        by_file: defaultdict[str, list[Any]] = defaultdict(list)
        for finding in self._run(root, [*stamps]):
            by_file[resolve_links(finding.file)].append(finding)
        self._found = {one: (stamps[one], by_file[resolve_links(one)]) for one in stamps}
        return self._found.pop(str(path))[1]

    def _run(self, folder: Path, files: Sequence[str]) -> list[Any]:
        """Return the findings of a run; what went wrong is reported."""
        try:
            done = _execute([self._program, *self.list_arguments(folder), *files], folder)
            said = " ".join(done.stderr.decode("utf-8", "replace").split())
            if said or done.returncode not in self.statuses:
                self._report_fault(f"failed: {said or done.returncode}")
            return self.parse(done.stdout)
        except (OSError, subprocess.TimeoutExpired, msgspec.DecodeError) as fault:
            self._report_fault(f"failed: {fault}")
            return []

    def _report_fault(self, fault: str, hint: str | None = None) -> None:
        self._report(DegradedChannel(channel="lint", reason=f"{self.id} {fault}", hint=hint))


def _execute(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - a program of the installation, without a shell
        command,
        cwd=folder if folder.is_dir() else None,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120.0,
    )


def _read_stamp(file: str) -> object:
    """Return what changes when a file does; None when there is none."""
    try:
        found = os.stat(file)  # noqa: PTH116 - a plain string
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _find_offset(data: bytes, at: int) -> int:
    """Return the code point of the text at a byte of its file; CR LF counts as one."""
    before = data[:at].removeprefix(BOM_UTF8)
    return len(before.decode("utf-8", "ignore")) - before.count(b"\r\n")


_STYLE = (
    *("MD003", "MD004", "MD005", "MD007", "MD009", "MD010", "MD012", "MD013", "MD014", "MD019"),
    *("MD022", "MD024", "MD025", "MD026", "MD027", "MD028", "MD029", "MD030", "MD031", "MD032"),
    *("MD033", "MD034", "MD035", "MD036", "MD037", "MD038", "MD039", "MD040", "MD041", "MD042"),
    *("MD045", "MD046", "MD047", "MD048", "MD049", "MD050", "MD052", "MD053", "MD055", "MD058"),
    *("MD059", "MD062", "MD064", "MD065", "MD071", "MD076", "MD077"),
)
"""Rules of taste, and three that were wrong wherever they found anything in documentation that was
read by hand (MD037, MD042, MD052): left out where rumdl has no configuration."""
_LINKS = ("MD051", "MD057")
"""Rules about links to files and headings, which the rules of kebab check with moved targets."""
_CERTAIN = frozenset({"MD009", "MD012", "MD018", "MD022", "MD031", "MD032", "MD047", "MD058"})
"""The rules whose fix only adds or removes blanks and empty lines."""
_SEVERITIES: dict[str, SeverityName] = {"error": "error", "info": "suggestion"}


class _RumdlFix(Struct):
    """A text for the bytes from `start` to `end` of the file."""

    range: dict[str, int]
    replacement: str


class _RumdlFinding(Struct):
    file: str
    line: int
    rule: str
    message: str
    severity: str
    fix: _RumdlFix | None = None


class Rumdl(Linter):
    """The program rumdl finds a fault of the markup.

    The ids are those of its rules, such as `rumdl:MD011`; `rumdl rule MD011` explains one. Where it
    finds a configuration, such as `.rumdl.toml`, that decides. Without one its rules of taste are
    left out, such as those on the length of lines, blank lines and HTML. Its rules on links to
    files and headings are always left out, because those of kebab find moved targets too. Indented
    code behind a shortcode, which it does not take for code, is not reported.
    """

    id: ClassVar[str] = "rumdl"
    kind: ClassVar[str] = "markup"
    example: ClassVar[str] = "# Plan\n\nRead the (manual)[a.md] first.\n"
    statuses: ClassVar[tuple[int, int]] = (0, 1)
    is_for_markdown: ClassVar[bool] = True

    def list_arguments(self, folder: Path) -> list[str]:
        """Return the arguments; other programs that a configuration names are not run."""
        disabled = _LINKS if _has_configuration(self._program, folder) else (*_STYLE, *_LINKS)
        options = ["--output-format", "json", "--no-cache", "--extend-disable", ",".join(disabled)]
        return ["check", *options, "--show-full-path", "--no-code-block-tools"]

    def parse(self, output: bytes) -> list[Any]:
        """Return the entries of a list."""
        return msgspec.json.decode(output or b"[]", type=list[_RumdlFinding])

    def convert(self, document: ReviewDocument, data: bytes, one: _RumdlFinding) -> Finding | None:
        """Return a finding at what its fix changes; without a fix it is at its line."""
        edit: EditName = "note"
        fix = None
        if one.fix:
            start, end = (_find_offset(data, one.fix.range[name]) for name in ("start", "end"))
            fix = Fix(one.fix.replacement, safe=one.rule in _CERTAIN)
            edit = "insert" if start == end else "replace" if fix.text else "delete"
        else:
            line = min(one.line, len(document.lines)) - 1
            start = document.line_starts[line]
            end = start + len(document.lines[line].rstrip())
        if any(low < start and end < high for low, high in document.markup.code_blocks):
            return None
        found = self.build(start, end, one.message, edit=edit, fix=fix)
        severity = _SEVERITIES.get(one.severity, self.severity)
        return replace(found, severity=severity, rule_id=f"{self.id}:{one.rule}")


@lru_cache(maxsize=64)
def _has_configuration(program: str, folder: Path) -> bool:
    """Return whether rumdl finds a configuration for a folder."""
    found = _execute([program, "config", "file"], folder).stdout.strip()
    return Path(os.fsdecode(found)).is_file()


class _Typo(Struct):
    """A line of typos; the offset is that of the word in its line. Other lines are no words."""

    type: str
    file: str = msgspec.field(default="", name="path")
    line_num: int = 1
    byte_offset: int = 0
    typo: str = ""
    corrections: list[str] = []


class Typos(Linter):
    """The program typos finds a misspelled English word.

    It knows common misspellings. Where it finds a configuration, such as `typos.toml`, that
    decides; words that it should know go there. Documents in another language with Latin letters
    are not checked, and words in capitals and parts of longer words are not reported, which are
    mostly names. A fix is certain when there is one correction, and the word is prose.
    """

    id: ClassVar[str] = "typos"
    kind: ClassVar[str] = "spelling"
    example: ClassVar[str] = "You will recieve an answer.\n"
    statuses: ClassVar[tuple[int, int]] = (0, 2)
    is_for_markdown: ClassVar[bool] = False

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the findings unless the document is in another language with Latin letters."""
        letters = [one for one in document.prose if one.isalpha()]
        is_latin = 2 * sum(map(str.isascii, letters)) > len(letters)
        if document.lang in {None, "en"} or not is_latin:
            yield from super().check(document, surroundings)

    def list_arguments(self, folder: Path) -> list[str]:
        """Return the arguments; a file that the configuration excludes is not checked."""
        del folder
        return ["--format", "json", "--force-exclude", "--no-check-filenames", "--"]

    def parse(self, output: bytes) -> list[Any]:
        """Return the lines about words."""
        lines = (msgspec.json.decode(line, type=_Typo) for line in output.splitlines())
        return [one for one in lines if one.type == "typo"]

    def convert(self, document: ReviewDocument, data: bytes, one: _Typo) -> Finding | None:
        """Return a finding at its word; in source code parts of names count, too."""
        before = data.split(b"\n")[: one.line_num - 1]
        start = _find_offset(data, sum(map(len, before)) + len(before) + one.byte_offset)
        end = start + len(one.typo)
        beside = document.text[start - 1 : start], document.text[end : end + 1]
        is_name = one.typo.isupper() or any(side.isalnum() or side == "-" for side in beside)
        if is_name and not is_code(document.source.media):
            return None
        named = ", ".join(f"`{word}`" for word in one.corrections)
        reason = f"the word is misspelled: {one.typo}, should be {named}"
        if len(one.corrections) != 1:
            return self.build(start, end, reason)
        fix = Fix(one.corrections[0], safe=not document.prose[start:end].isspace())
        return self.build(start, end, reason, edit="replace", fix=fix)
