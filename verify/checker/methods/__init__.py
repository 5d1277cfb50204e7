"""The checker's own implementation of each method, written from its specification. Imports only the checker."""
