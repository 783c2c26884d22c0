"""Tells which files of a folder are documents that people write for readers.

A source tree also has text that is input or output of tests, and files of programs without a suffix
that is known.
"""

import re
from collections.abc import Iterable

from kebab.core.media import detect_media_type, is_code, is_prose

_TEST_DATA = frozenset(
    {
        *("testdata", "test-data", "test_data", "__fixtures__", "__snapshots__", "__mocks__"),
        *("test-fixtures", "test_fixtures", "testfiles", "test-files", "test_files"),
    }
)
_FOREIGN = frozenset(
    {"vendor", "third_party", "third-party", "thirdparty", "node_modules", "bower_components"}
)
"""Folders with the files of other projects."""

_DATA = frozenset(
    {
        *("lang", "langs", "locale", "locales", "l10n", "po", "unicode", "data", "corpus"),
        *("demo", "demos", "samples", "wordlists", "dictionaries"),
    }
)
"""Folders where texts without markup are strings or other data of a program."""

_LICENCE = re.compile(r"(?:UN)?LICEN[CS]ES?(?:[-._].*)?|COPYING(?:[-._].*)?")
_TEST_FOLDERS = frozenset({"test", "tests", "__tests__"})
_DATA_FOLDERS = frozenset({"fixtures", "snapshots", "expected", "golden", "goldens", "mocks"})
_PAGES = frozenset({"doc", "docs", "documentation", "content", "website", "site", "guide", "book"})
_TITLE_NAME = re.compile(r"[A-Z][A-Z0-9_-]{2,}(?:\.\w+)?")
_PROGRAM_NAMES = frozenset(
    {
        *("VERSION", "OWNERS", "CODEOWNERS", "MANIFEST", "BUILD", "WORKSPACE", "SOURCES", "DEPS"),
        *("PKG-INFO", "OWNERS_ALIASES", "METADATA", "RECORD", "WHEEL", "INSTALLER"),
    }
)
_PROGRAM_TEXT = re.compile(r"(?:requirements|constraints)[\w.-]*\.txt|robots\.txt|CMakeLists\.txt")


def choose_documents(files: Iterable[tuple[str, str]]) -> list[str]:
    """Return the documents among the files of a folder: their paths in it and media types.

    Where there is source code or a licence, test data, what others wrote, and files of programs are
    left out: texts below `testdata`, `fixtures` and the like, below `tests` but for those with a
    name such as `README.md`, below `vendor`, licences, and files without a known suffix but for
    those with a name in capitals.
    """
    known = list(files)
    texts = [path for path, media in known if is_prose(media)]
    if not any(is_code(media) or _is_licence(path) for path, media in known):
        return texts
    return [path for path in texts if not (_is_of_program(path) or _is_test_data(path))]


def _is_licence(path: str) -> bool:
    return _LICENCE.fullmatch(path.rpartition("/")[2]) is not None


def _is_of_program(path: str) -> bool:
    *folders, name = path.split("/")
    if _is_licence(path) or not _FOREIGN.isdisjoint(folders):
        return True
    if name.endswith(".txt") and not _DATA.isdisjoint(folders):
        return not _TITLE_NAME.fullmatch(name)
    if detect_media_type(name) is not None:
        return _PROGRAM_TEXT.fullmatch(name) is not None
    return not _TITLE_NAME.fullmatch(name) or name.partition(".")[0] in _PROGRAM_NAMES


def _is_test_data(path: str) -> bool:
    """Return whether the folders of a path hold input or output of tests, not pages about them."""
    *folders, name = path.split("/")
    in_pages = False
    in_tests = False
    for folder in map(str.lower, folders):
        if folder in _TEST_DATA or (folder in _DATA_FOLDERS and not in_pages):
            return True
        in_pages |= folder in _PAGES
        in_tests |= folder in _TEST_FOLDERS and not in_pages
    return in_tests and not _TITLE_NAME.fullmatch(name)
