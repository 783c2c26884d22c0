"""Parsers that crash, hang or exhaust the memory, as native code does with some files.

The bytes of a file say what happens. The module is imported by worker processes.
"""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

from kebab.core.documents import Block, BlockKind, ParsedDocument
from kebab.errors.catalog import DependencyMissing, ParseFailed

MEDIA = "application/pdf"


class Panic(BaseException):
    """Is no `Exception`, like the panics of libraries in Rust."""


class HostileParser:
    """Does what the first word of a file asks for; any other file becomes a document."""

    version = "hostile-v1"
    isolated = True

    def parse(self, data, path):
        """Return the document, unless the file asks for something else."""
        word, _, rest = data.decode().partition(" ")
        act = getattr(self, f"do_{word}", None)
        if act is not None:
            act(rest.strip())
        text = data.decode()
        return ParsedDocument(
            text=text, title=path, blocks=(Block(BlockKind.PARAGRAPH, 0, len(text)),)
        )

    def do_crash(self, _):
        """Die of a signal, as at an invalid address."""
        os.kill(os.getpid(), signal.SIGSEGV)

    def do_leave(self, status):
        """End the process."""
        os._exit(int(status))

    def do_exit(self, _):
        """Ask the interpreter to end."""
        sys.exit(3)

    def do_hang(self, _):
        """Take no notice of any alarm, as native code does."""
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM, signal.SIGPROF])
        time.sleep(600)

    def do_burn(self, _):
        """Compute for ever."""
        while True:
            sum(range(1000))

    def do_grind(self, _):
        """Compute for ever, and take no notice of any alarm."""
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM, signal.SIGPROF])
        self.do_burn(_)

    def do_wait(self, seconds):
        """Take a while."""
        time.sleep(float(seconds))

    def do_allocate(self, megabytes):
        """Take memory, and use it."""
        self.kept = bytearray(int(megabytes) << 20)

    def do_exhaust(self, megabytes):
        """Take memory as native code does, and crash when there is no more."""
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        for _ in range(int(megabytes)):
            address = libc.malloc(ctypes.c_size_t(1 << 20))
            if not address:
                os.abort()
            ctypes.memset(address, 1, 1 << 20)

    def do_refuse(self, cause):
        """Refuse the bytes."""
        raise ParseFailed(path="x", parser=self.version, cause=cause)

    def do_miss(self, _):
        """Lack a library."""
        raise DependencyMissing(feature="reading PDF", install="pip install 'kebab[pdf]'")

    def do_fail(self, cause):
        """Raise what no parser is expected to raise."""
        raise Panic(cause)

    def do_print(self, text):
        """Write to both channels."""
        os.write(1, text.encode())
        os.write(2, text.encode())

    def do_count(self, folder):
        """Leave the number of the process in a folder."""
        Path(folder, str(os.getpid())).touch()


class AlarmedParser(HostileParser):
    """The same without isolation."""

    isolated = False
