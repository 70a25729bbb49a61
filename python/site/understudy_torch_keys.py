# SPDX-License-Identifier: Apache-2.0
"""What understudy_torch knows of operators without PyTorch: classes of layouts, the store of compiled operators on disk,
how many calls went which way, and the report. Sizes and strides are tuples of ints."""
import hashlib
import json
import os
import tempfile

WAYS = ("inductor", "cpu")


def way_from(text, under_a_tool):
    """The way that a setting asks for. `auto` is Inductor where a tool wants to see kernels."""
    text = (text or "auto").strip().lower()
    if text == "auto":
        return "inductor" if under_a_tool else "cpu"
    if text not in WAYS:
        raise ValueError(f"UNDERSTUDY_TORCH_VIA is '{text}': expected inductor, cpu or auto")
    return text


def is_dense(size, stride):
    """Every element of one piece of memory once, in some order of the dimensions."""
    expected = 1
    for step, extent in sorted((s, n) for n, s in zip(size, stride) if n != 1):
        if step != expected:
            return False
        expected *= extent
    return True


def overlaps_itself(size, stride):
    """Two indices may have one address. Sure for a stride of 0; else where dimensions are not nested."""
    reach = 0
    for step, extent in sorted((s, n) for n, s in zip(size, stride) if n != 1):
        if step <= reach:
            return True
        reach += step * (extent - 1)
    return False


def layout_class(size, stride):
    """What is decided before code is made: which dimensions have one element, and how the strides are ordered."""
    order = tuple(sorted((d for d, n in enumerate(size) if n != 1), key=lambda d: (-stride[d], d)))
    still = tuple(d for d in order if stride[d] == 0)
    unit = tuple(d for d in order if stride[d] == 1)
    return len(size), tuple(n == 1 for n in size), order, still, unit, is_dense(size, stride)


def digest(*parts):
    return hashlib.sha256("\0".join(str(p) for p in parts).encode()).hexdigest()[:32]


class Store:
    """Kernels of a class of calls, in one file for each: a list of records. A record that cannot be read is no record."""

    def __init__(self, directory, version):
        self.directory, self.version = directory, version

    def path(self, key):
        return os.path.join(self.directory, digest(self.version, key) + ".json")

    def load(self, key):
        try:
            with open(self.path(key), encoding="utf-8") as file:
                saved = json.load(file)
        except (OSError, ValueError):
            return []
        if not isinstance(saved, dict) or saved.get("key") != repr(key) or not isinstance(saved.get("records"), list):
            return []
        return [r for r in saved["records"] if isinstance(r, dict)]

    def save(self, key, records):
        """Whole or not at all; a directory that cannot be written only means that the next process compiles again."""
        try:
            os.makedirs(self.directory, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.directory)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"key": repr(key), "records": records}, file)
            os.replace(temporary, self.path(key))
        except OSError:
            return False
        return True


class Tally:
    """Calls of operators by name and way, why some went to the CPU, and what was compiled."""

    def __init__(self):
        self.calls = {way: {} for way in WAYS}
        self.reasons = {}
        self.compiled = self.loaded = 0
        self.seconds = 0.0

    def add(self, way, name, reason=None):
        of = self.calls[way]
        of[name] = of.get(name, 0) + 1
        if reason is not None:
            self.reasons.setdefault(name, {}).setdefault(reason, 0)
            self.reasons[name][reason] += 1

    def counts(self):
        names = {name for of in self.calls.values() for name in of}
        return {name: sum(of.get(name, 0) for of in self.calls.values()) for name in sorted(names)}

    def ways(self):
        return {way: sum(of.values()) for way, of in self.calls.items()}

    def report(self):
        ways = self.ways()
        total = sum(ways.values())
        lines = [
            f"understudy_torch: {ways['inductor']} of {total} calls of operators through Inductor, {ways['cpu']} by the CPU's operators",
            f"  {self.compiled} kernels compiled in {self.seconds:.1f} s, {self.loaded} found on disk",
        ]
        for name, number in sorted(self.calls["cpu"].items(), key=lambda item: (-item[1], item[0])):
            why = max(self.reasons.get(name, {"": 0}).items(), key=lambda item: item[1])[0]
            lines.append(f"  cpu {number:6} {name}" + (f": {why}" if why else ""))
        return "\n".join(lines)
