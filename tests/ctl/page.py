#!/usr/bin/env python3
"""Is a page of `sgctl job --html` what it should be?  page.py FILE [TEXT...]: prints what is wrong, a line each; TEXT must be in it.

HTML: every element that is opened is closed in its order, ids are unique, there is no script, no handler and nothing from elsewhere.  Each
drawing is well-formed SVG with a title."""
import html.parser
import re
import sys
import xml.etree.ElementTree as tree

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.wrong, self.text, self.tags = [], set(), [], [], {}

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag in ("script", "iframe", "object", "embed", "link", "img", "base", "form"):
            self.wrong.append(f"there is a <{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name in ("src", "href", "xlink:href", "action", "srcset"):
                self.wrong.append(f"<{tag}> has {name}={value}")
            if name == "id":
                if value in self.ids:
                    self.wrong.append(f"two elements have the id {value}")
                self.ids.add(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> within {self.open}")
        else:
            self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


source = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(source)
page.close()
wrong = page.wrong
if page.open:
    wrong.append(f"not closed: {page.open}")
if not source.startswith("<!DOCTYPE html>\n"):
    wrong.append("it is no HTML document")
for tag in ("title", "h1", "main", "header"):
    if page.tags.get(tag, 0) < 1:
        wrong.append(f"there is no <{tag}>")
for i, drawing in enumerate(re.findall(r"<svg.*?</svg>", source, re.S)):
    try:
        svg = tree.fromstring(drawing)
    except tree.ParseError as e:
        wrong.append(f"drawing {i} is no XML: {e}")
        continue
    if svg.get("role") == "img" and svg.find("{http://www.w3.org/2000/svg}title") is None:
        wrong.append(f"drawing {i} has no title")
    places = " ".join(e.get(key, "") for e in svg.iter() for key in ("viewBox", "d", "x", "y", "width", "height"))
    if svg.get("class") == "chart" and re.search(r"nan|inf|-\d", re.sub(r"h-\d", "h", places), re.I):
        wrong.append(f"drawing {i} has a coordinate that is no number, or outside of it")
if re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg)", source.split("<body>")[0]):
    wrong.append("the style refers to something elsewhere")
text = re.sub(r"\s+", " ", " ".join(page.text))
for wanted in sys.argv[2:]:
    if wanted not in text:
        wrong.append(f"the text lacks: {wanted}")
print("\n".join(wrong), end="\n" if wrong else "")
