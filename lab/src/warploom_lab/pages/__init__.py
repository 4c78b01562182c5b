"""Generators of documentation pages that need no code of the product at run time."""
