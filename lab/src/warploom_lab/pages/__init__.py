"""Generated files: reference pages, editor stubs, shell completions and notebook outputs."""

from __future__ import annotations
