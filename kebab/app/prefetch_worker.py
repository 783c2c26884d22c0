"""Runs the helper process of an ingest, with the parsers that the app uses."""

import sys

from kebab.ingest.prefetch import serve
from kebab.parse.deadline import guard_parser
from kebab.parse.registry import PARSERS


def main(tasks: str, rows: str) -> None:
    """Serve the two pipes whose numbers are given."""
    serve(int(tasks), int(rows), PARSERS, guard_parser)


if __name__ == "__main__":
    main(*sys.argv[1:])
