r"""Gives kebab paths of Windows: `C:\notes\a.md` stands for `/notes/a.md`.

What kebab gets from `os.path`, `pathlib` and the working folder has a drive and backslashes, and
every call on files takes such a path, so that code which takes a path apart at slashes fails here
as it would fail there.
"""

import builtins
import io
import ntpath
import os
import pathlib
import posixpath
import re
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Self

_DRIVE = re.compile(r"^(?:\\\\\?\\)?[A-Za-z]:(?=[\\/]|$)")
_URI = re.compile(r"^file:///?[A-Za-z]:(?=/)")
_CALLS = (
    *("access", "chdir", "chmod", "listdir", "lstat", "mkdir", "open", "readlink", "remove"),
    *("rename", "replace", "rmdir", "scandir", "stat", "statvfs", "symlink", "unlink", "utime"),
)
_TESTS = ("exists", "getmtime", "getsize", "isdir", "isfile", "islink", "lexists", "samefile")


def to_linux(path: Any) -> Any:
    """Return the path on this machine that a path of Windows stands for."""
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, str):
        return path
    plain = _DRIVE.sub("", _URI.sub("file://", path))
    return plain.replace("\\", "/") or "/"


def to_windows(path: str) -> str:
    """Return the path of Windows that stands for an absolute path on this machine."""
    return "C:" + path.replace("/", "\\")


class WindowsPath(pathlib.Path, pathlib.PureWindowsPath):
    """A path of Windows whose file is on this machine."""

    __slots__ = ()

    def __new__(cls, *parts: Any, **_: Any) -> Self:
        """Build a path on a system that has other ones."""
        if sys.version_info >= (3, 12):
            return object.__new__(cls)
        return cls._from_parts(parts)  # type: ignore[attr-defined,no-any-return]

    @classmethod
    def cwd(cls) -> Self:
        """Return the working folder."""
        return cls(to_windows(os.getcwd()))  # noqa: PTH109 - on this machine

    @classmethod
    def home(cls) -> Self:
        """Return the folder of the user."""
        return cls(to_windows(os.environ["HOME"]))

    def expanduser(self) -> Self:
        """Return the path with `~` replaced."""
        return type(self)(_expand(str(self)))

    def absolute(self) -> Self:
        """Return the path from the drive on."""
        return type(self)(_make_absolute(str(self)))

    def resolve(self, strict: bool = False) -> Self:  # noqa: FBT001, FBT002 - as the original
        """Return the path without links."""
        return type(self)(_resolve(str(self), strict=strict))


def _expand(path: Any) -> str:
    text = str(os.fspath(path))
    if text == "~" or text[:2] in ("~/", "~\\"):
        return to_windows(os.environ["HOME"]) + text[1:]
    return text


def _make_absolute(path: Any) -> str:
    text = str(os.fspath(path))
    if not _DRIVE.match(text):
        working = to_windows(os.getcwd())  # noqa: PTH109 - on this machine
        text = "C:" + text if text[:1] in ("/", "\\") else ntpath.join(working, text)
    return ntpath.normpath(text)


def _resolve(path: Any, *, strict: bool = False) -> str:
    real = posixpath.realpath(to_linux(_make_absolute(path)), strict=strict)
    return to_windows(str(real))


def _relate(path: Any, start: Any = ".") -> str:
    return ntpath.relpath(_make_absolute(path), _make_absolute(start))


def replace_paths(copies: Mapping[str, Any]) -> None:
    """Let kebab see paths of Windows, and all calls on files take them."""
    for name in _CALLS:
        setattr(os, name, _translate(getattr(os, name)))
    builtins.open = io.open = _translate(io.open)
    paths = ModuleType("ntpath")
    paths.__dict__.update(
        {name: value for name, value in vars(ntpath).items() if not name.startswith("__")}
    )
    vars(paths).update(abspath=_make_absolute, realpath=_resolve, expanduser=_expand)
    vars(paths).update(relpath=_relate)
    for name in _TESTS:
        setattr(paths, name, _translate(getattr(posixpath, name)))
    system = copies["os"]
    system.path, system.sep, system.altsep = paths, "\\", "/"
    system.getcwd = lambda: to_windows(os.getcwd())  # noqa: PTH109 - on this machine
    copies["pathlib"].Path = WindowsPath
    copies["pathlib"].PurePath = pathlib.PureWindowsPath


def translate_library(copy: Any) -> Any:
    """Let a library take the paths that kebab gives it."""
    for name in LIBRARIES[copy.__name__]:
        real: Any = getattr(copy.real, name)
        if copy.__name__ == "platformdirs":
            translated = _translate_result(real)
        elif copy.__name__ == "tokenizers":
            translated = _TokenizerClass(real)
        elif isinstance(real, type):
            made = _translate(getattr(real, "__init__"))  # noqa: B009 - of a class that is unknown here
            translated = type(name, (real,), {"__init__": lambda *a, made=made, **o: made(*a, **o)})
        else:
            translated = _translate(real)
        setattr(copy, name, translated)
    return copy


class _TokenizerClass:
    """Stands for a class that cannot have subclasses."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.from_file = _translate(real.from_file)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._real(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


LIBRARIES = {
    "apsw": ("Connection",),
    "glob": ("glob",),
    "lancedb": ("connect",),
    "onnxruntime": ("InferenceSession",),
    "platformdirs": ("user_cache_dir", "user_config_dir", "user_data_dir", "user_state_dir"),
    "shutil": ("copyfile", "copystat", "copymode", "disk_usage", "rmtree"),
    "sqlite3": ("connect",),
    "tempfile": ("NamedTemporaryFile", "mkdtemp"),
    "tokenizers": ("Tokenizer",),
}
"""The functions and classes that get paths from kebab."""


def _translate_result(call: Callable[..., str]) -> Callable[..., str]:
    return lambda *args, **options: to_windows(call(*args, **options))


def _translate(call: Callable[..., Any]) -> Any:
    """Return the call with the paths of this machine."""

    def on_linux(*args: Any, **options: Any) -> Any:
        if "dir" in options:
            options["dir"] = to_linux(options["dir"])
        return call(*map(to_linux, args), **options)

    on_linux.__name__ = getattr(call, "__name__", "call")
    return on_linux
