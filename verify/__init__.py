"""The referee: measures, searches, proves, judges, draws and reports; owns the command line.

What users call is loaded when it is first asked for, so that the checker and ``--help`` load nothing else.
"""

import sys
import time
from importlib import import_module

_PUBLIC = {
    "certificate": "exact.certificate", "check": "exact.check", "compare": "evidence.beside_runs",
    "decide": "referee.decide", "main": "cli.main",
}
__all__ = [*_PUBLIC]

#: when claims can have been loaded at the earliest; 0 if that is not known
LOADED = 0.0 if "bounds" in sys.modules else time.time()


def __getattr__(name):
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(_PUBLIC)}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
