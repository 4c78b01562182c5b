"""Laboratory of Warploom: queries to external tools and GPUs, test campaigns and generated pages.

The laboratory is not in the wheel. `lab/README.md` lists its commands.
"""
