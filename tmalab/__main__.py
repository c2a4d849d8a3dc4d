"""`python -m tmalab` is `tmalab`."""

import sys

from tmalab.cli import main

if __name__ == "__main__":
    sys.exit(main())
