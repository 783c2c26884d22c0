"""Starts the trial."""

import sys

from tools.trial.run import main

sys.exit(main())
