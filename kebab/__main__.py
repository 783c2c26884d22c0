"""`python -m kebab` is the same as `kebab`."""

from kebab.cli.main import run

if __name__ == "__main__":
    run()
