"""Lets `python -m tools.fuzz` run the program."""

import sys

from tools.fuzz.run import main

sys.exit(main())
