"""Runs the program: `python -m tools.powercut`."""

import sys

from tools.powercut.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
