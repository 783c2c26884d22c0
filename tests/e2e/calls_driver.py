"""Runs command lines one after the other in this process, as a worker of the warm process does.

It reads a JSON list of calls from stdin, each with its environment, folder, arguments and the text
of its settings file, and writes a list of exit statuses and outputs to stdout.
"""

import json
import os
import sys
from pathlib import Path

from kebab.warm.worker import KebabOpener, replace_environment
from tests.fakes.console import run


def main() -> None:
    """Run the calls."""
    opener, found = KebabOpener(), []
    for call in json.load(sys.stdin):
        replace_environment(call["environ"])
        os.chdir(call["folder"])
        Path(call["environ"]["HOME"], "settings.toml").write_text(call["settings"])
        result = run(*call["arguments"], opener=opener)
        found.append((result.status, result.out, result.err))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
