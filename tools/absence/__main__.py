"""Starts the measurement of absence."""

import sys

from tools.absence.measure import main

sys.exit(main(sys.argv[1:]))
