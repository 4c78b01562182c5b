"""SVG documents for light and dark themes, with a title and a description."""

from collections.abc import Iterable
from html import escape

_STYLE = """\
  svg { color-scheme: light dark; }
  .ground { fill: #ffffff; }
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .small { font-size: 10px; fill: #59636e; }
  .strong { font-weight: 600; }
"""
_DARK_STYLE = """\
  .ground { fill: #0d1117; }
  text { fill: #f0f6fc; }
  .small { fill: #9198a1; }
"""


def svg_document(
    size: tuple[int, int], title: str, description: str, style: str, dark_style: str, body: Iterable[str]
) -> str:
    """Return an SVG document with the elements of `body`.

    `description` is the text for screen readers. `style` and `dark_style` are CSS rules for the light and the dark
    theme. `size` is width and height in pixels.
    """
    width, height = size
    contents = "\n".join(body)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="title description">
<title id="title">{escape(title)}</title>
<desc id="description">{escape(description)}</desc>
<style>
{_STYLE}{style}
  @media (prefers-color-scheme: dark) {{
{_DARK_STYLE}{dark_style}
  }}
</style>
<rect class="ground" width="{width}" height="{height}"/>
{contents}
</svg>
"""


def svg_text(x: float, y: float, text: object, css_class: str = "", anchor: str = "") -> str:
    """Return an SVG `text` element at a position in pixels. `anchor` is its `text-anchor` attribute."""
    attributes = {"x": f"{x:g}", "y": f"{y:g}", "class": css_class, "text-anchor": anchor}
    words = "".join(f' {name}="{value}"' for name, value in attributes.items() if value)
    return f"<text{words}>{escape(str(text))}</text>"
