#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file that the compiler includes is in the digest of the object cache's key. usage: test_digest.py SOURCE_DIR BUILD_DIR"""
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1]).resolve() / "src"
BUILD = pathlib.Path(sys.argv[2]).resolve()
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)


def included(roots):
    seen, work = set(), list(roots)
    while work:
        at = work.pop()
        if at in seen:
            continue
        seen.add(at)
        for name in INCLUDE.findall(at.read_text()):
            there = [p for p in (SOURCE / name, at.parent / name) if p.is_file()]
            work.extend(p.resolve() for p in there[:1])
    return seen


def main():
    keyed = {pathlib.Path(line).resolve() for line in (BUILD / "object_cache_digest.txt").read_text().split("\n") if line}
    used = included(p.resolve() for p in (SOURCE / "codegen").rglob("*") if p.suffix in (".cpp", ".h"))
    missing = sorted(str(p.relative_to(SOURCE)) for p in used - keyed)
    for name in missing:
        print(f"{name} is compiled into kernels' code, but not in the digest of src/codegen/CMakeLists.txt")
    print(f"{len(used)} files included, {len(keyed)} in the digest")
    return 1 if missing or len(used) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
