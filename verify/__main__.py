"""``python -m verify`` is the command ``fedtheory``."""

import sys

import verify

if __name__ == "__main__":
    sys.exit(verify.main())
