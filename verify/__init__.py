"""The referee: measures, searches, proves, judges, draws and reports; owns the command line.

What users call is loaded when it is first asked for, so that the checker and ``--help`` load nothing else.
"""

from importlib import import_module

_PUBLIC = {
    "certificate": "exact.certificate", "check": "exact.check", "compare": "evidence.beside_runs",
    "decide": "referee.decide", "main": "cli.main",
}
__all__ = [*_PUBLIC]


def __getattr__(name):
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(_PUBLIC)}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
