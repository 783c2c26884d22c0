"""Lets `python -m tools.quality` run the measurement."""

import sys

from tools.quality.run import main

sys.exit(main(sys.argv[1:]))
