"""``python -m autogen_nb.cli``: the same as ``autogen-nb``."""

import sys

from autogen_nb.cli.main import main

sys.exit(main())
