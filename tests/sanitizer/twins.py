# SPDX-License-Identifier: Apache-2.0
"""The twins as data: what their head lines and expect comments say. Used by run_twins.py and scripts/check_twins."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent
HEAD = re.compile(r"// twin: (hit|fake); kinds: (.*)")
NOTE = re.compile(r"// (hangs|needs|flags|options|covers|may)(?:: (.*))?$")
EXPECT = re.compile(r"// expect: (.+)$")
PARTY = re.compile(r"([a-z][a-z-]*)(?: ([A-Z]))?$")
PAIRS = {"A": 0, "B": 0, "C": 1, "D": 1}
FLAGS = ["-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]", "-lineinfo", "-cudart", "shared", "-std=c++17",
         "-Xcompiler", "-g", "-diag-suppress", "550,20054,186"]


class Twin:
    def __init__(self, path):
        self.path = path
        self.name = path.stem
        self.family = path.parent.name
        lines = path.read_text().splitlines()
        head = HEAD.match(lines[1]) if len(lines) > 1 else None
        if not head:
            raise ValueError(f"{path}: line 2 is not '// twin: hit|fake; kinds: ...'")
        self.is_hit = head[1] == "hit"
        self.kinds = [int(k) for k in head[2].split(", ") if k != "-"]
        self.notes = {}
        self.sentence = ""
        for line in lines[2:]:
            if not line.startswith("//"):
                break
            note = NOTE.match(line)
            if note:
                self.notes[note[1]] = note[2] or ""
            else:
                self.sentence = line[3:]
        self.expected = expectations(path, lines)
        self.may = set(filter(None, self.notes.get("may", "").split(", ")))

    @property
    def terminates(self):
        return "hangs" not in self.notes

    @property
    def source(self):
        return f"{self.family}/{self.path.name}"

    def summary(self):
        """Each expected finding as `name line line`."""
        return "; ".join(" ".join([name, *map(str, sorted(lines))]) for name, lines in self.expected)


def expectations(path, lines):
    """[(name, {line, ...})]: one entry per finding. A comment that stands alone is for the next line that is code."""
    found = {}
    for number, line in enumerate(lines, 1):
        match = EXPECT.search(line)
        if not match:
            continue
        at = number
        if line.lstrip().startswith("//"):
            while lines[at].lstrip().startswith("//"):
                at += 1
            at += 1
        for part in match[1].split(", "):
            party = PARTY.match(part)
            if not party:
                raise ValueError(f"{path}:{number}: cannot read 'expect: {part}'")
            name, letter = party.groups()
            key = (name, f"pair {PAIRS[letter]}" if letter else f"line {at}")
            found.setdefault(key, set()).add(at)
    return [(name, at) for (name, _), at in sorted(found.items(), key=lambda item: min(item[1]))]


def all_twins(root=ROOT):
    return [Twin(path) for path in sorted(root.glob("*/*.cu"))]


def checks(root=ROOT):
    """name -> (severity, sentence), from the rows of the sanitizer's checks"""
    rows = (root.parent.parent / "src" / "sanitizer" / "checks.inc").read_text()
    found = re.findall(r'^US_CHECK_ROW\(\w+,\s*"([^"]+)",\s*(\w+),\s*"([^"]+)"\)', rows, re.M)
    return {name: (severity.lower(), sentence) for name, severity, sentence in found}
