"""``python -m autogen_nb.cli``: the same as ``autogen-nb``."""

import sys

from autogen_nb.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
