"""Claims: what papers state, as data and sympy expressions."""

from bounds.registry.loading import without_collection

with without_collection():  # nor is garbage looked for among what sympy makes
    import sympy.tensor.tensor  # noqa: F401  -- sympy loads this part with the first sum
