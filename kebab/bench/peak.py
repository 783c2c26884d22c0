"""The program that runs another one and tells the most memory that it held.

A process is charged at least with the memory of the one that starts it. The benchmark may have
grown by then; this program has not.
"""

import json
import resource
import subprocess
import sys

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def main(*command: str) -> int:
    """Print the peak of a command in bytes, as one line of JSON; return its status."""
    status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode  # noqa: S603 - the benchmark's own
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _RSS_UNIT
    print(json.dumps({"peak_bytes": peak}))  # noqa: T201 - the parent reads it
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
