"""Sanitizer: races, missing fences and waits, and wrong uses of mbarriers in the run of a kernel.

docs/architecture.md defines the terms of this package, such as agent, record, granule, conflict and cause.
"""
