#!/usr/bin/env python3
"""packages - do the packages of Debian and of RPM have the same files?

Reads what goes into each package: debian/*.install, .docs, .dirs and .logrotate, and the sections %files of
rpm/syncguard.spec. Both are brought to one form, the path after `make install` with Debian's names of folders. Where
rpmspec is there, it has to accept the spec.

    tests/packages.py [TOP]          TAP on standard output
"""
import glob
import os
import re
import shutil
import subprocess
import sys

FOLDERS = {"_bindir": "usr/bin", "_sbindir": "usr/sbin", "_libdir": "usr/lib/*", "_libexecdir": "usr/libexec", "_datadir": "usr/share",
           "_mandir": "usr/share/man", "_docdir": "usr/share/doc", "_includedir": "usr/include", "_sysconfdir": "etc",
           "_unitdir": "lib/systemd/system", "python3_sitelib": "usr/lib/python3/dist-packages"}
# A library's headers have another ending in each world.
RPM_NAMES = {"libsyncguard-dev": "libsyncguard-devel"}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def lines(path):
    return [words[0] for words in (line.split() for line in read(path).splitlines()) if words and words[0][0] != "#"]


def debian(top):
    """{package: {path}}"""
    files = {}
    for path in sorted(glob.glob(os.path.join(top, "debian", "*.*"))):
        package, kind = os.path.basename(path).rsplit(".", 1)
        has = files.setdefault(RPM_NAMES.get(package, package), set())
        if kind in ("install", "dirs"):
            has.update(lines(path))
        elif kind == "docs":
            has.update(f"usr/share/doc/syncguard/{os.path.basename(doc)}" for doc in lines(path))
        elif kind == "logrotate":
            has.add(f"etc/logrotate.d/{package}")
    return {package: has for package, has in files.items() if has}


def rpm(spec):
    """The same of the spec. A %dir only owns what the files need, except one below /etc that is empty."""
    files, has = {}, None
    for line in spec.splitlines():
        section = re.match(r"%(\w+)(?: +-n +(\S+)| +(\w+))?", line)
        if line.startswith("%files"):
            has = files.setdefault(section[2] or ("syncguard-" + section[3] if section[3] else "syncguard"), set())
        elif section and section[1] in ("changelog", "post", "pre", "build", "install"):
            has = None
        elif has is not None and "%{" in line and not line.startswith("#"):
            path = re.sub(r"%{(\w+)}", lambda m: FOLDERS.get(m[1], m[0]), line.split()[-1])
            if not line.startswith("%dir") or path == "etc/syncguard":
                has.add(re.sub(r"(/man/.*\.\d)\*$", r"\1", path))
    return files


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("top_srcdir", ".")
    path = os.path.join(top, "rpm", "syncguard.spec")
    spec = read(path)
    n = failures = 0

    def ok(passed, text):
        nonlocal n, failures
        n += 1
        failures += not passed
        print(f"{'ok' if passed else 'not ok'} {n} - {text}")

    ours, theirs = debian(top), rpm(spec)
    ok(len(ours) >= 7 and sorted(ours) == sorted(theirs), "debian/ and rpm/syncguard.spec make the same packages")
    for package in sorted(set(ours) | set(theirs)):
        a, b = ours.get(package, set()), theirs.get(package, set())
        ok(a == b, f"{package}: debian/ and rpm/syncguard.spec list the same files")
        for file in sorted(a ^ b):
            print(f"#   only in {'debian/' if file in a else 'rpm/syncguard.spec'}: {file}")
    # rpmbuild refuses what is installed and in no package; of Debian's it would be missing.
    installed = re.search(r"^dist_doc_DATA = (.*)", read(os.path.join(top, "doc", "local.mk")), re.M)[1].split()
    missing = {os.path.basename(doc) for doc in installed} - {os.path.basename(file) for file in ours.get("syncguard-common", ())}
    ok(installed and not missing, "each guide that `make install` installs is in a package")
    for doc in sorted(missing):
        print(f"#   in none: {doc}")
    version = re.search(r"^AC_INIT\(\[syncguard\], \[([^]]+)\]", read(os.path.join(top, "configure.ac")), re.M)[1]
    ok(f"\nVersion:        {version}\n" in spec, "rpm/syncguard.spec has configure.ac's version")
    ok(read(os.path.join(top, "debian", "changelog")).startswith(f"syncguard ({version}-"), "debian/changelog has configure.ac's version")
    # What removes a controller that runs on would leave a daemon without a program, at a port that the next one needs.
    ok("deb-systemd-invoke stop syncguardd.service" in read(os.path.join(top, "debian", "syncguard-controller.prerm")) and
       "disable --now syncguardd.service" in spec, "removing the controller's package ends the controller, in both")
    if shutil.which("rpmspec"):
        run = subprocess.run(["rpmspec", "-P", path], capture_output=True, text=True, check=False)
        ok(run.returncode == 0 and not run.stderr, "rpmspec accepts rpm/syncguard.spec")
        for line in run.stderr.splitlines():
            print(f"#   {line}")
    else:
        ok(True, "rpmspec accepts rpm/syncguard.spec # SKIP rpmspec is not installed")
    print(f"1..{n}")
    return failures > 0


sys.exit(main())
