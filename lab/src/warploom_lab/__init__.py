"""Laboratory of Warploom: queries to external tools and GPUs, test campaigns and generated pages.

The laboratory is a part of the repository but not of the wheel. `lab/README.md` lists its commands.
"""
