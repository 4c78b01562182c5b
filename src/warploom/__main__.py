"""Entry point of `python -m warploom`, which runs the `warploom` command."""

import sys

from warploom.cli import main

if __name__ == "__main__":
    sys.exit(main())
