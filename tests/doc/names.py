#!/usr/bin/env python3
"""names - do the files exist that comments and documents name, and is a private header included by its own alone?

Looks at the comments of C files and of scripts, and at the documents. What is named as folder/file.c (.h, .def, .py, .sh, .md) is there
below the top of the tree or beside the file that names it, in code also below lib/ or probe/; what is named as file.c or file.h alone is in the same folder as the file that
names it (of tests also in tests/), or, in a document, in any folder. A decision that is named by its number is there, and
no two have the same.

    tests/doc/names.py [TOP]          TAP on standard output
"""
import os
import re
import sys

PATH = re.compile(r"(?<![\w./<$%{}*-])((?:[\w.-]+/)*[a-z][\w-]*\.(?:c|h|def|py|sh|md))(?![\w*/]|\.\w)")
DECISION = re.compile(r"\bdecisions?[ /](\d{4})(-[\w-]+\.md)?")
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
SKIPPED = {".git", "build", "build-aux", "m4", "autom4te.cache", "_build", "_inst"}  # the last two: distcheck's
READ = (".c", ".h", ".def", ".py", ".sh", ".md", ".in")

# Of others: libraries' headers, and files of programs that are not ours.
FOREIGN = {"make-wrappers.py", "mpiP-stats.c", "mpi.h", "nvml.h", "scr.h", "slurm.h", "slurm_errno.h", "spank.h", "sysexits.h", "score.py"}
# Where an #include is looked for, too.
ROOTS = ("lib", "probe")
# Where a header of ours is installed.
INSTALLED = {"syncguard/site.h": "policies/site.h"}
# Made up, as what a user writes.
EXAMPLES = {"mine.c", "train.py"}


def files(top):
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.endswith(".corpus"))
        for name in sorted(names):
            if name != "Makefile.in":
                yield os.path.relpath(os.path.join(folder, name), top)


def words_of(path, text):
    """What is meant for readers, with everything else blanked so that lines keep their numbers."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])

    if path.endswith((".c", ".h", ".def")):
        out, at = [], 0
        for m in re.finditer(r'"(?:[^"\\\n]|\\.)*"|' + C_COMMENT.pattern, text, re.S):
            out.append(re.sub(r"[^\n]", " ", text[at:m.start()]))
            out.append(blank(m) if m[0].startswith('"') else m[0])
            at = m.end()
        return "".join(out) + re.sub(r"[^\n]", " ", text[at:])
    if path.endswith((".py", ".sh")):
        return "\n".join(line if line.lstrip().startswith("#") else "" for line in text.split("\n"))
    return text


def missing(path, text, there):
    """(line, name) of what is named and does not exist."""
    folder = os.path.dirname(path)
    words = words_of(path, text)
    document = path.endswith((".md", ".in"))
    bases = {os.path.basename(f) for f in there}
    for m in PATH.finditer(words):
        name = m[1]
        if name in FOREIGN or name in EXAMPLES or name.startswith("shared/"):  # shared/ is beside the tree
            continue
        places = [INSTALLED.get(name, name), os.path.join(folder, name)]
        if not document:
            places += [os.path.join(root, name) for root in ROOTS]
        if folder.startswith("tests/"):  # what all tests share
            places.append(os.path.join("tests", name))
        if any(os.path.normpath(p) in there for p in places) or (document and "/" not in name and name in bases):
            continue
        yield words.count("\n", 0, m.start()) + 1, name
    for m in DECISION.finditer(words):
        if not any(f.startswith(f"doc/decisions/{m[1]}") and f.endswith(m[2] or "") for f in there):
            yield words.count("\n", 0, m.start()) + 1, m[0]


def intruders(path, text, included):
    """Files outside tests/ that include a header which says that it is private to others."""
    folder, name = os.path.split(path)
    allowed = None
    if name.endswith("_private.h"):
        allowed = {folder}
    opening = re.match(r"/\*.*?\*/", text, re.S)
    said = re.search(r"[Pp]rivate to ([^.:;]*(?:\.[ch]\b[^.:;]*)*)", re.sub(r"\n \* ?", " ", opening[0])) if opening else None
    if said:
        allowed = {os.path.join(folder, f) for f in re.findall(r"[\w]+\.c", said[1])}
        allowed |= set(re.findall(r"(\w+)/", said[1])) | set(re.findall(r"the (\w+)", said[1]))
    if allowed is None:
        return
    for user in included.get(path, ()):
        room = os.path.dirname(user)
        if not user.startswith("tests/") and not {user, room, os.path.basename(room)} & allowed:
            yield user


class Tap:
    def __init__(self):
        self.run = self.failed = 0

    def nothing(self, found, what):
        """One test: nothing was found."""
        self.run += 1
        self.failed += bool(found)
        print(f"{'not ok' if found else 'ok'} {self.run} - {what}")
        for f in found:
            print(f"# {f}")


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("top_srcdir", ".")
    texts, included, tap = {}, {}, Tap()
    there = set(files(top))
    for path in sorted(there):
        if path.endswith(READ):
            with open(os.path.join(top, path), encoding="utf-8") as f:
                texts[path] = f.read()
            for header in re.findall(r'^\s*#\s*include\s+"([^"]+)"', texts[path], re.M):
                for root in ("", *ROOTS):
                    included.setdefault(os.path.join(root, header), []).append(path)

    tap.nothing([f"{path}:{line}: {name} does not exist" for path in texts for line, name in missing(path, texts[path], there)],
                "files and decisions that comments and documents name exist")
    tap.nothing([f"{user}: includes {path}, which is private" for path in texts if path.endswith(".h")
                 for user in intruders(path, texts[path], included)], "private headers are included by those that they are for alone")
    numbers = [os.path.basename(p)[:4] for p in there if p.startswith("doc/decisions/")]
    tap.nothing([f"decisions {n}: {numbers.count(n)}" for n in sorted(set(numbers)) if numbers.count(n) > 1],
                "no two decisions have the same number")
    # That the test itself finds what it is for.
    made = {"doc/a.md": "see `common/nowhere.h`, decision 9999 and lib/common/text.h",
            "lib/common/a.c": '/* as in nowhere.h, text.h */ char *s = "also/nowhere.c"; // wire/nothing.c\n'}
    got = sorted(f"{path} {name}" for path in made for _, name in missing(path, made[path], there))
    want = ["lib/common/a.c nowhere.h", "lib/common/a.c wire/nothing.c", "doc/a.md common/nowhere.h", "doc/a.md decision 9999"]
    tap.nothing([] if got == sorted(want) else [f"got {got}", f"wanted {want}"], "names that do not exist are found")
    spies = {"lib/ring/layout.h": ["lib/ring/writer.c", "probe/probe.h", "agent/rank.c", "tests/unit/ring.c"]}
    got = list(intruders("lib/ring/layout.h", "/* layout.h - private to ring/ and the\n * probe. */", spies))
    tap.nothing([] if got == ["agent/rank.c"] else [f"got {got}"], "includes of a private header are found")
    print(f"1..{tap.run}")
    return 1 if tap.failed else 0


sys.exit(main())
