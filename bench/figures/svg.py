# SPDX-License-Identifier: MIT
"""Draws figures as SVG text. The same data produces the same file on every machine."""
import math
from xml.sax.saxutils import escape

# People with color vision deficiencies can distinguish these colors. In grayscale, the colors differ in lightness.
BLUE, ORANGE, GREEN, RED, PURPLE, BROWN, GREY, BLACK = (
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#8c6d31", "#999999", "#222222")
LIGHT = {BLUE: "#8ec3e6", ORANGE: "#f5d58a", GREEN: "#8fd6c1", RED: "#eeb08a"}
FAINT = "#555555"
GRID = "#dddddd"


def text_width(text, size):
    """Estimates the width in a sans-serif font. The estimate is usually slightly too large."""
    return 0.6 * size * len(text)


class Svg:
    def __init__(self, width):
        self.width, self.height = width, 0
        self.parts = []
        self.hatches = {}

    def reach(self, y):
        self.height = max(self.height, y)

    def rect(self, x, y, width, height, fill, tip=""):
        inside = f"><title>{escape(tip)}</title></rect>" if tip else "/>"
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"{inside}')
        self.reach(y + height)

    def line(self, x1, y1, x2, y2, stroke=GRID, width=1):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" '
                          f'stroke-width="{width}"/>')

    def path(self, points, stroke, dashed=False):
        positions = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashes = ' stroke-dasharray="6 4"' if dashed else ""
        self.parts.append(f'<polyline points="{positions}" fill="none" stroke="{stroke}" stroke-width="2"{dashes}/>')

    def dot(self, x, y, fill):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{fill}"/>')

    def text(self, x, y, text, size=11, anchor="middle", fill=BLACK, bold=False, turned=False, over=False):
        """If `over` is true, the text is drawn over lines, and a white outline separates it from them."""
        weight = ' font-weight="bold"' if bold else ""
        turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
        start = f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
        end = f"{weight}{turn}>{escape(text)}</text>"
        if over:  # draw the outline first, because not every program supports paint-order
            self.parts.append(f'{start} stroke="white" stroke-width="3" fill="white"{end}')
        self.parts.append(f'{start} fill="{fill}"{end}')
        self.reach(y + 0.4 * size)

    def hatched(self, color):
        """Returns a fill of this color with white stripes, which marks wrong answers."""
        name = self.hatches.setdefault(color, f"hatch{len(self.hatches)}")
        return f"url(#{name})"

    def title(self, text, below=""):
        self.text(self.width / 2, 24, text, 16, bold=True)
        if below:
            self.text(self.width / 2, 43, below, 11, fill=FAINT)

    def legend(self, y, entries, size=11):
        """Draws entries (label, fill) in as many centered lines as they need; returns the y position below."""
        lines, line, used = [], [], 0
        for label, fill in entries:
            width = 22 + text_width(label, size) + 14
            if line and used + width > self.width - 40:
                lines.append((line, used))
                line, used = [], 0
            line.append((label, fill, width))
            used += width
        lines.append((line, used))
        for line, used in lines:
            x = (self.width - used) / 2
            for label, fill, width in line:
                self.rect(x, y - 10, 12, 12, fill)
                self.text(x + 18, y, label, size, "start")
                x += width
            y += size + 8
        return y

    def finish(self):
        height = math.ceil(self.height + 14)
        patterns = "".join(
            f'<pattern id="{name}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            f'<rect width="5" height="5" fill="{color}"/><rect width="1.8" height="5" fill="white"/></pattern>'
            for color, name in self.hatches.items())
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" width="{self.width}" '
                f'height="{height}" font-family="Helvetica, Arial, sans-serif">\n'
                + (f"<defs>{patterns}</defs>\n" if patterns else "")
                + f'<rect width="{self.width}" height="{height}" fill="white"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


class Axis:
    """Maps values to coordinates on a linear or logarithmic scale."""

    def __init__(self, low, high, begin, end, logarithmic=False):
        self.low, self.high, self.begin, self.end, self.logarithmic = low, high, begin, end, logarithmic

    def __call__(self, value):
        low, high, at = self.low, self.high, value
        if self.logarithmic:
            low, high, at = (math.log(one) for one in (low, high, max(value, self.low)))
        return self.begin + (at - low) / (high - low) * (self.end - self.begin)


def short(value):
    """0.05, 1, 20, 64 Ki."""
    for power, unit in ((30, " Gi"), (20, " Mi"), (10, " Ki")):
        if value >= 1 << power and value % (1 << power) == 0:
            return f"{int(value) >> power}{unit}"
    return f"{value:g}"


def decade_ticks(low, high, steps=(1, 2, 5)):
    power = math.floor(math.log10(low))
    ticks = [step * 10.0 ** exponent for exponent in range(power, math.ceil(math.log10(high)) + 1) for step in steps]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]


def even_ticks(high, about=6):
    step = 10 ** math.floor(math.log10(high / about))
    step = next(step * factor for factor in (1, 2, 5, 10) if high / (step * factor) <= about)
    return [step * index for index in range(int(high / step + 1e-9) + 1)]


def bars(svg, top, title, groups, series, values, height=170, logarithmic=False, full=None, unit=""):
    """Bars in groups: values[group, key] is a number, or (number, True) if answers are wrong. The line at the value
    `full`, such as 100 %, is emphasized. Returns the y position below the bars."""
    left, width = 62, svg.width - 82
    base = top + 30 + height
    svg.text(left, top + 14, title, 13, "start", bold=True)
    numbers = [value[0] for value in values.values()]
    if logarithmic:
        axis = Axis(min(numbers) / 1.6, max(numbers) * 2.4, base, base - height, True)
        ticks = decade_ticks(axis.low, axis.high, (1,))
    else:
        axis = Axis(0, max([full or 0, *numbers]) * 1.09, base, base - height)
        ticks = even_ticks(axis.high)
    for tick in ticks:
        svg.line(left, axis(tick), left + width, axis(tick), BLACK if tick == full else GRID)
        svg.text(left - 6, axis(tick) + 4, f"{short(tick)}{unit}", 10, "end")
    step = width / len(groups)
    bar = step * 0.86 / len(series)
    for index, group in enumerate(groups):
        svg.text(left + step * (index + 0.5), base + 15, group, 10)
        for position, (key, _, color) in enumerate(series):
            if (group, key) not in values:
                continue
            value, wrong = values[group, key]
            x = left + step * (index + 0.07) + position * bar
            svg.rect(x, axis(value), bar * 0.9, base - axis(value), svg.hatched(color) if wrong else color)
            label = f"{value:.0f}" if not logarithmic else f"{float(f'{value:.2g}'):g}"
            if text_width(label, 8) < 0.85 * bar:
                svg.text(x + bar * 0.45, axis(value) - 3, label, 8, fill="#444444", over=True)
            else:  # rotated, it fits next to its neighbors
                svg.text(x + bar * 0.45 + 3, axis(value) - 3, label, 8, "start", "#444444", turned=True, over=True)
    return base + 34


def lines(svg, left, top, width, height, title, series, x_label, y_label="", x_log=0, y_log=False, x_range=None,
          y_range=None):
    """Draws series (label, color, dashed, points) with a legend below; returns the y position below it."""
    points = [point for *_, line in series for point in line]
    base = top + 30 + height
    x_low, x_high = x_range or (min(x for x, _ in points), max(x for x, _ in points))
    y_low, y_high = y_range or (min(y for _, y in points), max(y for _, y in points))
    x_axis = Axis(x_low, x_high, left, left + width, bool(x_log))
    y_axis = (Axis(y_low / 1.2, y_high * 1.2, base, top + 30, True) if y_log
              else Axis(0, y_high * 1.08, base, top + 30))
    svg.text(left, top + 14, title, 13, "start", bold=True)
    for tick in decade_ticks(y_axis.low, y_axis.high) if y_log else even_ticks(y_axis.high):
        svg.line(left, y_axis(tick), left + width, y_axis(tick))
        svg.text(left - 6, y_axis(tick) + 4, short(tick), 10, "end")
    if x_log:
        ticks = [x_log ** power for power in range(0, 64) if x_low <= x_log ** power <= x_high]
        ticks = ticks[::max(1, math.ceil(len(ticks) / (width / 55)))]
    else:
        ticks = even_ticks(x_high, 5)
    for tick in ticks:
        svg.line(x_axis(tick), top + 30, x_axis(tick), base)
        svg.text(x_axis(tick), base + 14, short(tick), 10)
    svg.text(left + width / 2, base + 32, x_label, 11)
    if y_label:
        svg.text(left - 44, top + 30 + height / 2, y_label, 11, turned=True)
    for _, color, dashed, line in series:
        positions = [(x_axis(x), y_axis(y)) for x, y in line]
        svg.path(positions, color, dashed)
        for x, y in [] if dashed else positions:
            svg.dot(x, y, color)
    return base + 46


def shade(fraction):
    """A color from red (slow) through yellow to blue (the floor and above), and whether text on it must be white."""
    stops = ((0.0, (178, 24, 43)), (0.25, (244, 137, 88)), (0.5, (253, 224, 155)), (0.75, (171, 210, 229)),
             (1.0, (67, 120, 184)))
    fraction = min(max(fraction, 0.0), 1.0)
    for (low, first), (high, second) in zip(stops, stops[1:]):
        if fraction <= high:
            share = (fraction - low) / (high - low)
            color = [round(a + (b - a) * share) for a, b in zip(first, second)]
            break
    dark = 0.3 * color[0] + 0.6 * color[1] + 0.1 * color[2] < 118
    return "#" + "".join(f"{part:02x}" for part in color), dark
