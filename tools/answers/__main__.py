"""Starts the count of faults in answers."""

import sys

from tools.answers.run import main

sys.exit(main(sys.argv[1:]))
