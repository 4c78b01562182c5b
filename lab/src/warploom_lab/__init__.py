"""Laboratory of Warploom: questions to external tools and GPUs, test campaigns and their recorded answers."""

from __future__ import annotations
