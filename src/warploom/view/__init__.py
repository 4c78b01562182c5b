"""Pictures, as SVG: text that says what it shows, readable on light and dark ground."""
