"""Claims: what papers state, as data and sympy expressions."""

from bounds.loading import without_collection

with without_collection():
    import sympy  # noqa: F401  -- here, that no garbage is looked for among its objects either
