"""``python -m fedtheory`` is the command ``fedtheory``."""

import sys

import fedtheory

if __name__ == "__main__":
    sys.exit(fedtheory.main())
