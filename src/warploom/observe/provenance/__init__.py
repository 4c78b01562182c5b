"""Origins of results, and causes of wrong results."""
