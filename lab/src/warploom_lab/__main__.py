"""Entry point of `python -m warploom_lab`."""

import sys

from warploom_lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
