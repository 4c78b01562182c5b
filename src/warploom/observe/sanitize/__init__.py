"""Sanitizer: races, missing fences and waits, and wrong uses of mbarriers in the run of a kernel."""
