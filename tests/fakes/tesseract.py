"""A program named tesseract that answers every picture with the same text."""

from pathlib import Path


def install_tesseract(folder: Path, text: str, *, error: str = "", status: int = 0) -> Path:
    """Write the program to a folder, which the caller puts on PATH; return its log of arguments.

    `text` is printed as `printf` prints it, so a form feed is `\\f`.
    """
    log = folder / "arguments"
    program = folder / "tesseract"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {log}\n'
        f"/usr/bin/wc -c >> {log}\n"
        f"printf '{text}'\n"
        f"printf '{error}' >&2\n"
        f"exit {status}\n"
    )
    program.chmod(0o755)
    return log
