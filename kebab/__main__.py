"""The entry point of the process: `kebab`, and `python -m kebab`, which is the same.

Its first statement handles Ctrl-C, because the imports that follow take most of a short call.
"""

import _signal  # type: ignore[import-not-found]  # built in, unlike `signal`
import os
import sys

_ERROR = 2
_INTERRUPTED = 130
_UTF8 = "utf8"


def _leave(_number: int, _frame: object) -> None:
    """End the process: no work has begun, and an exception could break an import."""
    os._exit(_INTERRUPTED)


if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _leave)


def run() -> None:
    """Run kebab with the arguments of this process, and exit."""
    if sys.getfilesystemencoding() == "ascii" and _UTF8 not in sys.orig_argv:
        # Python was told to read names as ASCII, and most names of files are UTF-8.
        os.execv(sys.executable, [sys.executable, "-X", _UTF8, *sys.orig_argv[1:]])  # noqa: S606 - the same program
    try:
        from kebab.cli.main import run as run_command_line

        run_command_line()
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)
    except Exception as fault:  # noqa: BLE001 - what is not reported yet must not end as a traceback
        try:
            from kebab.errors.start import describe_start_failure

            os.write(2, describe_start_failure(fault, sys.argv[1:]).encode())
        finally:
            os._exit(_ERROR)


if __name__ == "__main__":
    run()
