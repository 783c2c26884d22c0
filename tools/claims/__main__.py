"""Lets `python -m tools.claims` run the program."""

import sys

from tools.claims.run import main

sys.exit(main())
