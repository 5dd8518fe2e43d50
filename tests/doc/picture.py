#!/usr/bin/env python3
"""picture - a picture of a real screen: runs a command in a terminal of tmux, and writes what it shows as SVG.

    tests/doc/picture.py [--size 100x27] [--after SECONDS] [--keys KEYS] --out doc/screen.svg COMMAND...

    tests/doc/picture.py --size 100x26 --after 150 --out doc/screen.svg ./demo         README's picture; needs tmux, 3 minutes
"""
import argparse
import html
import re
import shlex
import subprocess
import time

SOCKET = "syncguard-picture"
CELL = (8.4, 17)  # a character's width and height
MARGIN = 12
NO_BREAK = "\u00a0"  # spaces are collapsed
GROUND, INK = "#16181d", "#d8dbe2"
COLOURS = ("#3b4048", "#e5656a", "#7cc77f", "#e2b35a", "#6ea3e8", "#c58ae0", "#5fc3c9", "#d8dbe2",
           "#747c8a", "#ff8087", "#98e09b", "#f5cd7d", "#8fbcf7", "#dba9f0", "#82dde2", "#ffffff")


def colour(n):
    """One of the 256 of xterm."""
    if n < 16:
        return COLOURS[n]
    if n >= 232:
        return "#" + f"{8 + 10 * (n - 232):02x}" * 3
    levels = (0, 95, 135, 175, 215, 255)
    return "#" + "".join(f"{levels[(n - 16) // p % 6]:02x}" for p in (36, 6, 1))


def styled(style, numbers):
    """The style after a sequence "ESC [ numbers m"."""
    numbers = [int(n or 0) for n in numbers.replace(":", ";").split(";")]
    while numbers:
        n = numbers.pop(0)
        if n == 0:
            style = {}
        elif n in (1, 2, 7):
            style = {**style, {1: "bold", 2: "dim", 7: "reverse"}[n]: True}
        elif n in (22, 27):
            style = {k: v for k, v in style.items() if k not in ({22: ("bold", "dim"), 27: ("reverse",)}[n])}
        elif n in (38, 48) and numbers[:1] == [5]:
            style = {**style, "ink" if n == 38 else "ground": colour(numbers[1])}
            numbers = numbers[2:]
        elif n in (39, 49):
            style = {k: v for k, v in style.items() if k != ("ink" if n == 39 else "ground")}
        elif 30 <= n % 60 <= 37 or 40 <= n % 60 <= 47:  # 90 to 97 and 100 to 107 are the bright ones
            bright = 8 * (n >= 90)
            style = {**style, "ink" if n % 60 < 40 else "ground": COLOURS[bright + n % 10]}
    return style


def runs(line, style):
    """[(column, text, style)] of a captured line, and the style after it."""
    out, column = [], 0
    for n, part in enumerate(re.split(r"\x1b\[([\d;:]*)m", line)):  # text, numbers, text, ...
        if n % 2:
            style = styled(style, part)
        elif part:
            out.append((column, part, style))
            column += len(part)
    return out, style


def svg(capture, columns, title):
    wide, high = CELL
    lines = capture.rstrip("\n").split("\n")
    size = (2 * MARGIN + wide * columns, 2 * MARGIN + high * len(lines))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]:.0f}" height="{size[1]:.0f}" viewBox="0 0 {size[0]:.0f} {size[1]:.0f}" role="img">',
           f"<title>{html.escape(title)}</title>", f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>',
           f'<g font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14" fill="{INK}">']
    style = {}
    for row, line in enumerate(lines):
        spans, style = runs(line, style)
        for column, text, s in spans:
            x, y = MARGIN + wide * column, MARGIN + high * row
            ink, ground = s.get("ink", INK), s.get("ground")
            if s.get("reverse"):
                ink, ground = ground or GROUND, ink
            if ground:
                out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide * len(text):.1f}" height="{high}" fill="{ground}"/>')
            if not text.strip():
                continue
            look = (f' fill="{ink}"' if ink != INK else "") + (' font-weight="bold"' if s.get("bold") else "") + (' opacity="0.6"' if s.get("dim") else "")
            out.append(f'<text x="{x:.1f}" y="{y + 13:.1f}" textLength="{wide * len(text):.1f}" lengthAdjust="spacingAndGlyphs"{look}>{html.escape(text.replace(" ", NO_BREAK))}</text>')
    return "\n".join(out + ["</g>", "</svg>", ""])


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--size", default="100x26", help="columns and rows")
    a.add_argument("--after", type=float, default=60, help="seconds until the picture")
    a.add_argument("--keys", default="", help="keys that are pressed before it")
    a.add_argument("--out", required=True)
    a.add_argument("command", nargs="+")
    o = a.parse_args()
    columns, rows = o.size.split("x")
    tmux = ["tmux", "-L", SOCKET]
    subprocess.run([*tmux, "-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows, shlex.join(o.command)], check=True)
    try:
        time.sleep(o.after)
        for key in o.keys:
            subprocess.run([*tmux, "send-keys", key], check=True)
            time.sleep(2)
        shot = subprocess.run([*tmux, "capture-pane", "-p", "-e"], check=True, stdout=subprocess.PIPE, text=True).stdout
        subprocess.run([*tmux, "send-keys", "Q"], check=True)
        time.sleep(5)
    finally:
        subprocess.run([*tmux, "kill-server"], stderr=subprocess.DEVNULL)
    with open(o.out, "w", encoding="utf-8") as f:
        f.write(svg(shot, int(columns), "sgtop: " + " ".join(o.command)))


if __name__ == "__main__":
    main()
