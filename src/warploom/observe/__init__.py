"""Observers of a launch: sanitizer, trace and profile."""

from __future__ import annotations
