"""Starts the calibration."""

import sys

from tools.calibrate.run import main

sys.exit(main(sys.argv[1:]))
