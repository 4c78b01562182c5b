"""Laboratory of Warploom: queries to external tools and GPUs, test campaigns and generated pages.

The laboratory belongs to the repository and not to the wheel. `lab/README.md` lists its commands.
"""

from __future__ import annotations
