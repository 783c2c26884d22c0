"""Runs the program: `python -m tools.kills`."""

import sys

from tools.kills.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
