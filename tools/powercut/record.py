"""Records the file-system calls of a process and its children with `strace`."""

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.powercut.disk import Disk

_ROOT = Path(__file__).parents[2]
MARKS = "marks"
"""The file below the root whose writes are marks in the record and not data."""

_CALLS = (
    "creat,open,openat,write,writev,pwrite64,pwritev,pwritev2,lseek,truncate,ftruncate,fallocate,"
    "rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir,mkdir,mkdirat,symlink,symlinkat,"
    "fsync,fdatasync,sync,syncfs,sync_file_range,copy_file_range,sendfile,splice,newfstatat"
)
_LINE = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?P<words>.*)\) += (?P<result>-?\d+)", re.DOTALL)
_BEGUN = re.compile(r"(?P<pid>\d+) +(?P<begin>.*) <unfinished \.\.\.>$", re.DOTALL)
_RESUMED = re.compile(r"(?P<pid>\d+) +<\.\.\. \w+ resumed>(?P<end>.*)$", re.DOTALL)
_DESCRIPTOR = re.compile(r"(?P<number>\d+|AT_FDCWD)<(?P<path>[^>]*)>(?P<gone>\(deleted\))?")
_STRING = re.compile(r'"(?P<text>[^"]*)"')
_TIME = re.compile(r"st_mode=S_IFREG.*st_mtime=(?P<s>\d+).*st_mtime_nsec=(?P<ns>\d+)", re.DOTALL)
WRITES = ("write", "writev", "pwrite64")
_BY_NAME = {
    *("rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "rmdir"),
    *("creat", "open", "openat", "mkdir", "mkdirat", "truncate", "symlink", "symlinkat"),
}
_UNKNOWN = {
    *("truncate", "symlink", "symlinkat", "fallocate", "copy_file_range", "sendfile", "splice"),
    *("sync", "syncfs", "sync_file_range", "pwritev", "pwritev2"),
}
"""Calls that the model does not follow; a record with one of them is refused."""


class RecordError(Exception):
    """The run cannot be recorded, or the record cannot be followed."""


class Call(NamedTuple):
    """A call that succeeded: its paths below the root, and its numbers or bytes."""

    name: str
    paths: tuple[str, ...]
    descriptor: int = -1
    data: bytes = b""
    number: int = 0
    flags: str = ""


def record(command: Sequence[str], root: Path, log: Path, environ: Mapping[str, str]) -> list[Call]:
    """Run a command in the folder of this program, and return what it did below another folder.

    Raises:
        RecordError: There is no `strace`, it may not trace, or the command fails.
    """
    tracer = shutil.which("strace")
    if tracer is None:
        raise RecordError("`strace` is not installed: apt-get install strace")
    options = ["-f", "--seccomp-bpf", "-y", "-xx", "-v", "-s", "1000000000", "-e", "signal=none"]
    line = [tracer, *options, "-e", f"trace={_CALLS}", "-o", str(log), *command]
    done = subprocess.run(  # noqa: S603 - a developer's own command
        line, cwd=_ROOT, env=dict(environ), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RecordError(f"{' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
    with log.open(encoding="ascii") as lines:
        return list(parse(lines, root))


def parse(lines: Iterator[str] | Sequence[str], root: Path) -> Iterator[Call]:
    """Yield the successful calls of a record that concern files below a folder."""
    inside = _encode(str(root))
    begun: dict[str, str] = {}
    for raw in lines:
        line = raw.rstrip("\n")
        if (found := _BEGUN.match(line)) is not None:
            begun[found["pid"]] = found["begin"]
            continue
        if (found := _RESUMED.match(line)) is not None:
            line = f"{found['pid']} {begun.pop(found['pid'], '')}{found['end']}"
        if inside not in line or (match := _LINE.match(line)) is None:
            continue
        if int(match["result"]) >= 0 and (call := _read_call(match, str(root))) is not None:
            yield call


def _encode(text: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


def _decode(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _read_call(match: "re.Match[str]", root: str) -> Call | None:
    """Return a call, or None when it changes nothing below the root."""
    name, words, result = match["name"], match["words"], int(match["result"])
    strings = [_decode(found["text"]) for found in _STRING.finditer(words)]
    opened = [found for found in _DESCRIPTOR.finditer(words) if found["number"] != "AT_FDCWD"]
    if name == "newfstatat":
        return _read_time(words, opened, strings, root)
    if opened and name not in _BY_NAME:
        paths = _find_paths([_decode(opened[0]["path"])], root)
        if opened[0]["gone"] or not paths:
            return None
        number = int(words.rpartition(",")[2]) if name in ("pwrite64", "ftruncate") else result
        data = b"".join(strings)[:result] if name in WRITES else b""
        return Call(name, paths, int(opened[0]["number"]), data, number)
    # A name is relative to the folder that stands before it.
    folders = [_decode(found["path"]) for found in _DESCRIPTOR.finditer(words)]
    full = [
        text if text.startswith(b"/") else folders[min(at, len(folders) - 1)] + b"/" + text
        for at, text in enumerate(strings)
    ]
    paths = _find_paths(full, root)
    if paths and len(paths) < len(full):
        raise RecordError(f"`{name}` moves something over the border of the folder: {full!r}")
    return Call(name, paths, result, flags=words) if paths else None


def _find_paths(names: Sequence[bytes], root: str) -> tuple[str, ...]:
    decoded = [name.decode("utf-8", "surrogateescape") for name in names]
    return tuple(
        name[len(root) :].strip("/") for name in decoded if f"{name}/".startswith(f"{root}/")
    )


def _read_time(
    words: str, opened: Sequence["re.Match[str]"], strings: Sequence[bytes], root: str
) -> Call | None:
    """Return the time that a program has seen of a file."""
    time = _TIME.search(words)
    if time is None or not strings or (opened and opened[0]["gone"]):
        return None
    named = strings[0] or (_decode(opened[0]["path"]) if opened else b"")
    paths = _find_paths([named], root)
    number = int(time["s"]) * 10**9 + int(time["ns"])
    return Call("time", paths, number=number) if paths else None


class Player:
    """Plays calls on the model of a disk.

    An open file is known by its number, because threads share it and children do not write.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._offsets: dict[int, int] = {}
        self._appending: set[int] = set()

    def play(self, call: Call) -> bool:
        """Play a call; return whether it may have changed the disk.

        Raises:
            RecordError: The model does not know the call.
        """
        disk, name = self._disk, call.name
        if name in _UNKNOWN:
            raise RecordError(f"the model of the disk does not know `{name}`")
        if name == "time":
            if disk.find(call.paths[0]) is not None:
                disk.set_time(call.paths[0], call.number)
            return False
        if name == "lseek":
            self._offsets[call.descriptor] = call.number
            return False
        if name in ("creat", "open", "openat"):
            return self._open(call)
        if name in WRITES:
            self._write(call)
        elif name in ("mkdir", "mkdirat"):
            disk.create(call.paths[0], is_folder=True)
        elif name in ("rename", "renameat", "renameat2"):
            disk.rename(*call.paths)
        elif name in ("link", "linkat"):
            disk.link(*call.paths)
        elif name in ("unlink", "unlinkat", "rmdir"):
            disk.remove(call.paths[0])
        elif name == "ftruncate":
            disk.truncate(call.paths[0], call.number)
        else:
            disk.sync(call.paths[0])
        return True

    def _open(self, call: Call) -> bool:
        path = call.paths[0]
        if not any(word in call.flags for word in ("O_WRONLY", "O_RDWR", "O_CREAT")):
            return False
        self._offsets[call.descriptor] = 0
        (self._appending.add if "O_APPEND" in call.flags else self._appending.discard)(
            call.descriptor
        )
        if self._disk.find(path) is None:
            self._disk.create(path)
            return True
        if "O_TRUNC" in call.flags:
            self._disk.truncate(path, 0)
            return True
        return False

    def _write(self, call: Call) -> None:
        path = call.paths[0]
        if call.name == "pwrite64":
            self._disk.write(path, call.number, call.data)
        elif call.descriptor in self._appending:
            self._disk.append(path, call.data)
        else:
            offset = self._offsets.get(call.descriptor, 0)
            self._disk.write(path, offset, call.data)
            self._offsets[call.descriptor] = offset + len(call.data)
