"""Campaigns of many tasks: executors, isolated processes and checkpoints that survive interruption."""

from __future__ import annotations
