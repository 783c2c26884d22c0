"""Contains constants and changes to imports and the environment that save time or memory.

Each entry states the measurement that justifies it. Times are seconds or milliseconds of processor
time on a machine with two cores; an entry that no measurement justifies is removed.
"""

import importlib.util
import os
import sys

_LANCE_THREADS = "2"
_LANCE_REST_CLIENT = "lance_namespace_urllib3_client"


def limit_blas_threads() -> None:
    """Let numpy multiply on one thread; the user's own setting wins.

    A product of a matrix and a vector waits for memory, so a second thread does not help. Measured
    for 100,000 vectors: 5.5 ms with one thread, 8.5 ms with two; both take 5.5 ms of wall time.
    numpy reads the setting once, on import.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def limit_lance_threads() -> None:
    """Let LanceDB use two threads; the user's own setting wins.

    Measured for 25 appends and one compaction of 100,000 vectors: 0.8 to 1.0 s and 370 MB with two
    threads, 1.6 s and 480 MB with 64. LanceDB reads the settings once, on import.
    """
    os.environ.setdefault("LANCE_CPU_THREADS", _LANCE_THREADS)
    os.environ.setdefault("LANCE_IO_THREADS", _LANCE_THREADS)


def skip_lance_rest_client() -> None:
    """Let `import lancedb` find the client of its server as a package whose code has not run.

    LanceDB needs only the models in there; a table on disk never makes a call over HTTP. Measured:
    the import takes 648 ms instead of 1121 ms (medians of 7 processes).
    """
    if _LANCE_REST_CLIENT not in sys.modules:
        spec = importlib.util.find_spec(_LANCE_REST_CLIENT)
        if spec is not None:
            sys.modules[_LANCE_REST_CLIENT] = importlib.util.module_from_spec(spec)


def skip_httpx_command_line() -> None:
    """Let `import httpx` not import its command line, and with it click, rich and pygments.

    Measured: the import takes 98 ms instead of 156 ms (medians of 12 processes).
    """
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # None blocks the import
