"""Starts the developer benchmarks."""

import sys

from tools.bench.run import main

sys.exit(main(sys.argv[1:]))
