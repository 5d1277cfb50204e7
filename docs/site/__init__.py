"""The site: pages written by hand, pages made from the registries, and one Sphinx build. ``python -m docs.site``."""
