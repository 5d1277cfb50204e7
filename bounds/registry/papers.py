"""The papers, and the claims of each."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import bounds.papers
from bounds.language.claim import Claim, by_id
from bounds.registry.loading import without_collection

__all__ = ["PAPERS", "claims_of_paper", "modules_of"]

#: every folder of ``bounds/papers``, by name
PAPERS = tuple(sorted(module.name for module in iter_modules(bounds.papers.__path__)))


def modules_of(paper: str) -> tuple[str, ...]:
    """Full names of the modules that hold a paper's claims, as its ``__init__`` lists them in ``MODULES``."""
    package = f"bounds.papers.{paper}"
    return tuple(f"{package}.{name}" for name in import_module(package).MODULES)


@cache
def claims_of_paper(paper: str) -> dict[str, Claim]:
    """The claims of one of ``PAPERS`` by id; only its modules are loaded."""
    with without_collection():
        return by_id(claim for name in modules_of(paper) for claim in import_module(name).CLAIMS)
