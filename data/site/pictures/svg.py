# SPDX-License-Identifier: MIT
"""Draws shapes as inline SVG. Letters and lines have the color of the page's text, and colors are half transparent, so
that a picture can be read on light and dark pages."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

LINES = ("#2f81c7", "#e07b39", "#3a9d5d", "#b264c8")  # all contrast with both white and black
HATCH = "url(#hatch)"


def short(value: float) -> str:
    """Formats a number as a label, with few digits and a real minus sign."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.4g}" if abs(value) < 1e5 else f"{value:.3g}"
    if "e" in text:
        digits, _, power = text.partition("e")
        text = f"{digits}e{int(power)}"
    return text.replace("-", "−")


def coordinate(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    step = (high - low) / count
    size = 10.0 ** math.floor(math.log10(step))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= step * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [(first + i) * step for i in range(int((high - first * step) / step + 1e-9) + 1)]


def hue(number: int, of: int) -> str:
    return f"hsl({round(360 * number / max(of, 1) + 205) % 360},75%,50%)"


class Svg:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.width = self.height = 0.0

    def reach(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)

    def rect(self, x: float, y: float, width: float, height: float, fill: str = "none", opacity: float = 1,
             stroke: bool = False, rounded: float = 0) -> None:
        style = f' fill-opacity="{opacity:g}"' if opacity != 1 and fill != "none" else ""
        style += ' stroke="currentColor" stroke-opacity=".45"' if stroke else ""
        style += f' rx="{rounded:g}"' if rounded else ""
        self.parts.append(f'<rect x="{coordinate(x)}" y="{coordinate(y)}" width="{coordinate(width)}" '
                          f'height="{coordinate(height)}" fill="{fill}"{style}/>')
        self.reach(x + width, y + height)

    def text(self, x: float, y: float, text: str, size: float = 12, anchor: str = "middle", faint: bool = False,
             fill: str = "currentColor", bold: bool = False) -> None:
        style = "" if anchor == "start" else f' text-anchor="{anchor}"'
        style += ' fill-opacity=".7"' if faint else ""
        style += ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{coordinate(x)}" y="{coordinate(y)}" font-size="{size:g}" fill="{fill}"{style}>'
                          f"{escape(text)}</text>")
        width = (0.74 if text.isupper() else 0.68 if bold else 0.6) * size * len(text)
        self.reach(x + {"start": width, "middle": width / 2, "end": 0}[anchor], y + 4)

    def line(self, x1: float, y1: float, x2: float, y2: float, opacity: float = 0.2) -> None:
        self.parts.append(f'<path d="M{coordinate(x1)} {coordinate(y1)}L{coordinate(x2)} {coordinate(y2)}" '
                          f'stroke="currentColor" stroke-opacity="{opacity:g}"/>')
        self.reach(max(x1, x2), max(y1, y2))

    def path(self, positions: Sequence[tuple[float, float]], color: str, width: float = 2) -> None:
        if len(positions) > 1:
            points = " ".join(f"{coordinate(x)} {coordinate(y)}" for x, y in positions)
            self.parts.append(f'<path d="M{points}" fill="none" stroke="{color}" stroke-width="{width:g}" stroke-linejoin="round"/>')

    def dot(self, x: float, y: float, color: str, radius: float = 3) -> None:
        self.parts.append(f'<circle cx="{coordinate(x)}" cy="{coordinate(y)}" r="{radius:g}" fill="{color}"/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draws an arrow along a row or down a column."""
        self.line(x1, y1, x2, y2, 0.8)
        length = math.hypot(x2 - x1, y2 - y1)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        corners = ((x2, y2), (x2 - 8 * dx - 4 * dy, y2 - 8 * dy + 4 * dx), (x2 - 8 * dx + 4 * dy, y2 - 8 * dy - 4 * dx))
        self.parts.append('<path d="M' + " ".join(f"{coordinate(x)} {coordinate(y)}" for x, y in corners)
                          + 'Z" fill="currentColor" fill-opacity=".8"/>')

    def finish(self, alternative: str) -> str:
        width, height = math.ceil(self.width + 6), math.ceil(self.height + 6)
        hatch = ('<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
                 '<path d="M0 0V6" stroke="currentColor" stroke-opacity=".45"/></pattern></defs>')
        used = any(HATCH in part for part in self.parts)
        return (f'<svg role="img" aria-label="{escape(alternative)}" viewBox="0 0 {width} {height}" width="{width}" '
                f'height="{height}" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif">'
                f'{hatch if used else ""}{"".join(self.parts)}</svg>')


def legend(svg: Svg, x: float, y: float, entries: Iterable[tuple[str, str]]) -> None:
    for text, color in entries:
        svg.rect(x, y - 9, 12, 10, color)
        svg.text(x + 18, y, text, 12, "start")
        y += 20
