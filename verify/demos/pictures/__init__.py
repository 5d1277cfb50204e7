"""Pictures of the notebooks, one file each: ``CONTROLS`` with their values, ``numbers`` from them, and their ``picture``."""
