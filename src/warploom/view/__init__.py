"""Pictures and pages: layouts, reports, bar charts, and the output of notebooks."""
