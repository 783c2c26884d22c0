"""Runs every kind of damage: `python -m tools.damage`."""

from tools.damage.run import main

raise SystemExit(main())
