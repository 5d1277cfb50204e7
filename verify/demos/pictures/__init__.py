"""What the notebooks show, one file each: ``CONTROLS`` with their values, ``numbers`` from them, and their ``picture``."""
