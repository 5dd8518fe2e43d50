#!/usr/bin/env python3
"""tree - is the tree what doc/ARCHITECTURE.md says it is?

Reads the table of folders there ("| folder | ... | may include |"), every #include "folder/file.h" of the C files outside
tests/, and the symbols of the objects that were made of them. A folder is a room: at the top, or one of lib/ or probe/. Fails
on an edge between folders that the table does not allow, on a folder that it lacks or has too many, on foo_private.h in
another module than foo (foo.h with foo.c and its foo_*.c), and on a circle: of headers that include each other, or of files
that call each other's functions or use each other's data.

    tests/tree.py [TOP [BUILD]]          TAP on standard output
"""
import collections
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z]+)/([a-z0-9_]+\.(?:h|def))"', re.M)


def table(text):
    """{folder: folders it may include}"""
    allowed = {}
    for line in text.splitlines():
        row = re.match(r"\| `([a-z/]+)/` \|.*\|([^|]*)\|$", line)
        if row and row[1] not in ("tests", "doc"):
            allowed[os.path.basename(row[1])] = set(re.findall(r"[a-z]+", row[2]))
    return allowed


def rooms(top):
    """{name: path}"""
    return {d: os.path.join(top, above, d) for above in ("", "lib", "probe") for d in os.listdir(os.path.join(top, above))
            if os.path.isfile(os.path.join(top, above, d, "local.mk")) and d not in ("tests", "doc")}


def sources(folders):
    for folder in sorted(folders):
        for name in sorted(os.listdir(folders[folder])):
            if name.endswith((".c", ".h", ".def")):
                yield folder, name


def module(files, folder, name):
    """foo.h and foo.c are foo; foo_bar.c without a header of its own, and foo_private.h, belong to foo."""
    stem = name.rsplit(".", 1)[0]
    while not (folder, stem + ".h") in files or stem.endswith("_private"):
        if "_" not in stem:
            break
        stem = stem.rsplit("_", 1)[0]
    else:
        return f"{folder}/{stem}"
    own = name.rsplit(".", 1)[0]
    return f"{folder}/{stem if (folder, stem + '.h') in files else own}"


def circles_of(edges):
    """Strongly connected components of more than one module (Tarjan 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(edges.get(v, ())):
            if w not in index:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            component = set()
            while True:
                w = stack.pop()
                component.add(w)
                if w == v:
                    break
            if len(component) > 1:
                found.append(frozenset(component))

    for v in sorted(edges):
        if v not in index:
            visit(v)
    return found


def objects(build, top, present, files):
    """{object: its source as folder/name without .c}"""
    found = {}
    for folder, path in present.items():
        for below in ("", ".libs"):
            path_of = os.path.join(build, os.path.relpath(path, top), below)
            for name in sorted(os.listdir(path_of)) if os.path.isdir(path_of) else ():
                stem = re.sub(r"^\w+-", "", name[:-2])
                if name.endswith(".o") and (folder, stem + ".c") in files:
                    found[os.path.join(path_of, name)] = f"{folder}/{stem}"
    return found


def uses(source_of):
    """{source: other sources whose functions or data it uses}; a name that several define is that of its own folder, or not known"""
    defined, used = collections.defaultdict(set), collections.defaultdict(set)
    listing = subprocess.run(["nm", "-A", *source_of], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        path, symbol = line.rsplit(":", 1)
        kind, name = symbol.split()[-2:]
        if kind == "U":
            used[source_of[path]].add(name)
        elif kind in "TDBRVWC":
            defined[name].add(source_of[path])
    edges = collections.defaultdict(set)
    for source, names in used.items():
        for name in names:
            found = defined[name]
            if len(found) > 1:
                found = {f for f in found if os.path.dirname(f) == os.path.dirname(source)}
            if len(found) == 1 and source not in found:
                edges[source] |= found
    return edges


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("top_srcdir", ".")
    build = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("top_builddir", top)
    sys.setrecursionlimit(10000)
    allowed = table(open(os.path.join(top, "doc/ARCHITECTURE.md")).read())
    present = rooms(top)
    n = failures = 0

    def ok(passed, text):
        nonlocal n, failures
        n += 1
        failures += not passed
        print(f"{'ok' if passed else 'not ok'} {n} - {text}")

    ok(allowed, "doc/ARCHITECTURE.md has a table of folders")
    for folder in sorted(set(present) | set(allowed)):
        ok(folder in present and folder in allowed, f"{folder}/ is a folder, and in the table of doc/ARCHITECTURE.md")
    files = set(sources(present))
    headers = collections.defaultdict(set)
    for folder, name in sorted(files):
        text = open(os.path.join(present[folder], name), errors="replace").read()
        me = module(files, folder, name)
        wrong, private = [], []
        for to, header in INCLUDE.findall(text):
            if to not in present:
                continue
            if to != folder and to not in allowed.get(folder, ()):
                wrong.append(f"{to}/{header}")
            if name.endswith(".h"):
                headers[f"{folder}/{name}"].add(f"{to}/{header}")
            if header.endswith("_private.h") and module(files, to, header) != me:
                private.append(f"{to}/{header}")
        ok(not wrong, f"{folder}/{name} includes only what {folder}/ may"
           + (f": not {', '.join(wrong)}" if wrong else ""))
        ok(not private, f"{folder}/{name} includes no other module's private header"
           + (f": not {', '.join(private)}" if private else ""))
    circles = circles_of(headers)
    ok(not circles, "headers include each other in no circle"
       + "".join(": not " + ", ".join(sorted(circle)) for circle in circles))
    made = objects(build, top, present, files)
    if made:
        circles = circles_of(uses(made))
        ok(not circles, "files call each other in no circle"
           + "".join(": not " + ", ".join(sorted(circle)) for circle in circles))
    print(f"1..{n}")
    return 1 if failures else 0


sys.exit(main())
