#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs litmus tests of the PTX memory model under `understudy check`, and compares with an oracle of its own.

The tests are files of the public Dat3M suite (litmus/PTX), given as a folder: nothing of them is kept here. Each thread
becomes lane 0 of a warp of its own, in the order of the file and in the opposite one. The oracle runs the threads in
random and in sequential interleavings, with a plain implementation of causality order, and says of each whether it has
a data race.

  forbidden  the outcome that the table forbids was seen
  false      reported, and no interleaving has a race
  missed     every interleaving has a race, and a run did not report one

usage: run_litmus.py --tests FOLDER --expected litmus_expected.tsv --runner RUNNER [--understudy PROGRAM] [--only TEXT]
"""
import argparse
import itertools
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

SECONDS, STEPS, RANDOM_RUNS = 120, 40, 150
SCOPES = {"cta": 0, "cluster": 1, "gpu": 2, "sys": 3}


class NotUnderstood(Exception):
    pass


class Test:
    def __init__(self, path):
        text = re.sub(r'"[^"]*"', "", path.read_text())
        head, body = text.split("{", 1)
        initial, body = body.split("}", 1)
        self.memory, self.registers = {}, {}
        for part in filter(None, (p.strip() for p in initial.split(";"))):
            if "@" in part or "aliases" in part:
                raise NotUnderstood("proxies")
            name, value = (p.strip() for p in part.split("="))
            if ":" in name:
                self.registers[tuple(name.split(":"))] = value
            else:
                self.memory[name] = int(value, 0)
        rows, condition = [], []
        for line in body.splitlines():
            bare = line.split("//")[0].strip()
            if condition or re.match(r"(~?exists|forall|filter)", bare):
                condition.append(bare)
            elif bare:
                rows.append([cell.strip() for cell in bare.rstrip(";").split("|")])
        self.condition = " ".join(condition)
        self.places = []
        for cell in rows[0]:
            found = re.match(r"P\d+@cta (\d+), *gpu (\d+)", cell)
            if not found:
                raise NotUnderstood(cell)
            if found[2] != "0":
                raise NotUnderstood("several devices")
            self.places.append(int(found[1]))
        self.code = [[row[k] for row in rows[1:] if k < len(row) and row[k]] for k in range(len(self.places))]
        self.code = [self.parsed(thread) for thread in self.code]
        for t in self.code:
            for op, args in t:
                if op.split(".")[0] in ("ld", "atom", "red", "st"):
                    self.memory.setdefault(self.location(op, args), 0)

    @staticmethod
    def location(op, args):
        return args[1] if op.split(".")[0] in ("ld", "atom") else args[0]

    @staticmethod
    def parsed(thread):
        out = []
        for text in thread:
            while True:
                label = re.match(r"(LC\w*): *", text)
                if not label:
                    break
                out.append(("label", [label[1]]))
                text = text[label.end():]
            if text:
                op, _, rest = text.partition(" ")
                out.append((op, [a.strip() for a in rest.split(",")] if rest.strip() else []))
        return out

    def values(self, thread, register):
        return self.registers.get((f"P{thread}", register), "0")


def semantics(op):
    """kind, order, scope, operation of an access or fence."""
    parts = op.split(".")
    order = next((p for p in parts if p in ("weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile")),
                 "weak" if parts[0] in ("ld", "st") else "relaxed")
    scope = next((p for p in parts if p in SCOPES), "sys" if order == "volatile" else "gpu")
    known = [p for p in parts[1:] if p not in SCOPES and p != order]
    return parts[0], order, scope, known


# ---- the oracle

class Event:
    def __init__(self, number, thread, kind, order, scope, loc=None, value=None, source=None, rmw=False):
        self.number, self.thread, self.kind, self.order, self.scope = number, thread, kind, order, scope
        self.loc, self.value, self.source, self.rmw = loc, value, source, rmw
        self.strong = order != "weak"
        self.reads = kind == "R" or rmw
        self.writes = kind == "W" or rmw


class Execution:
    """One interleaving: `choose` picks the thread that goes next."""

    def __init__(self, test, choose):
        self.test, self.events = test, []
        self.memory = {n: (v, None) for n, v in test.memory.items()}
        self.registers = [{} for _ in test.code]
        self.barrier_edges = []
        self.finished = self.run(choose)

    def read(self, t, what):
        if re.fullmatch(r"-?\d+|0x[0-9a-f]+", what):
            return int(what, 0)
        return self.registers[t].get(what, int(self.test.values(t, what), 0))

    def run(self, choose):
        test = self.test
        pc, steps = [0] * len(test.code), [0] * len(test.code)
        waiting, came = [None] * len(test.code), {}
        while True:
            ready = [t for t in range(len(pc)) if pc[t] < len(test.code[t]) and waiting[t] is None and steps[t] < STEPS]
            if not ready:
                return all(pc[t] >= len(test.code[t]) for t in range(len(pc)))
            t = choose(ready)
            steps[t] += 1
            op, args = test.code[t][pc[t]]
            pc[t] += 1
            kind, order, scope, known = semantics(op)
            labels = {a[0]: k for k, (o, a) in enumerate(test.code[t]) if o == "label"}
            if kind == "label":
                continue
            if kind == "goto":
                pc[t] = labels[args[0]]
            elif kind in ("beq", "bne"):
                if (self.read(t, args[0]) == self.read(t, args[1])) == (kind == "beq"):
                    pc[t] = labels[args[2]]
            elif kind in ("add", "mov", "sub"):
                a = [self.read(t, x) for x in args[1:]]
                self.registers[t][args[0]] = a[0] if kind == "mov" else a[0] + a[1] if kind == "add" else a[0] - a[1]
            elif kind == "fence":
                self.event(t, "F", order, scope)
            elif kind == "bar":
                name, count = barrier_of(self, t, args)
                key = (test.places[t], name)
                count = count or sum(p == test.places[t] for p in test.places)
                came.setdefault(key, []).append((t, len(self.events), "sync" in known))
                if "sync" in known:
                    waiting[t] = key
                if len(came[key]) == count:
                    self.meet(came.pop(key))
                    for other in range(len(pc)):
                        waiting[other] = None if waiting[other] == key else waiting[other]
            else:
                self.access(t, kind, order, scope, known, args)

    def event(self, t, *rest, **more):
        e = Event(len(self.events), t, *rest, **more)
        self.events.append(e)
        return e

    def meet(self, all_of):
        here = len(self.events)
        for t, until, _ in all_of:
            for other, _, syncs in all_of:
                if syncs and other != t:
                    self.barrier_edges.append((t, until, other, here))

    def access(self, t, kind, order, scope, known, args):
        loc = Test.location(".".join([kind]), args)
        value, source = self.memory[loc]
        if kind == "ld":
            self.event(t, "R", order, scope, loc=loc, value=value, source=source)
            self.registers[t][args[0]] = value
            return
        if kind == "st":
            new = self.read(t, args[1])
            self.memory[loc] = (new, self.event(t, "W", order, scope, loc=loc, value=new))
            return
        operands = [self.read(t, a) for a in args[1 + (kind == "atom"):]]
        what = known[-1]
        if what == "cas" and value != operands[0]:
            e = self.event(t, "R", order, scope, loc=loc, value=value, source=source)
        else:
            new = {"add": lambda: value + operands[0], "sub": lambda: value - operands[0],
                   "exch": lambda: operands[0], "cas": lambda: operands[1]}[what]()
            e = self.event(t, "W", order, scope, loc=loc, value=new, source=source, rmw=True)
            self.memory[loc] = (new, e)
        if kind == "atom":
            self.registers[t][args[0]] = value

    def together(self, a, b):
        """Scopes include each other's thread."""
        same = self.test.places[a.thread] == self.test.places[b.thread]
        return all(same or SCOPES[e.scope] >= SCOPES["gpu"] for e in (a, b))

    def morally_strong(self, a, b):
        return a.thread == b.thread or (a.strong and b.strong and self.together(a, b))

    def races(self):
        es, n = self.events, len(self.events)
        before = [0] * n  # bit sets of what precedes in base causality

        def chain(r):  # writes that a read observes, through atomics
            w = r.source
            while w is not None:
                yield w
                if not (w.rmw and w.source is not None and self.morally_strong(w, w.source)):
                    return
                w = w.source

        observed = [[w for w in chain(e) if self.morally_strong(e, w)] if e.reads and e.strong else [] for e in es]
        for e in es:
            mask = 0
            for p in es[:e.number]:
                if p.thread == e.thread:
                    mask |= before[p.number] | 1 << p.number
            for t, until, other, here in self.barrier_edges:
                if other == e.thread and e.number >= here:
                    for p in es[:until]:
                        if p.thread == t:
                            mask |= before[p.number] | 1 << p.number
            # Acquire patterns that end here: by itself, or by a fence behind the read.
            ends = [(r, e) for r in [e] if e.reads and e.order in ("acquire", "acq_rel")]
            if e.kind == "F" and e.order in ("acq_rel", "sc"):
                ends += [(r, e) for r in es[:e.number] if r.thread == e.thread and r.reads and r.strong]
            for r, last in ends:
                for w in observed[r.number]:
                    for first in self.pattern(w):
                        if self.together(first, last):
                            mask |= before[first.number] | 1 << first.number
            before[e.number] = mask
        found = set()
        for a, b in itertools.combinations(es, 2):
            if a.loc is None or a.loc != b.loc or not (a.writes or b.writes) or self.morally_strong(a, b):
                continue
            if before[b.number] >> a.number & 1:
                continue
            through = any(before[b.number] >> z.number & 1 and a in observed[z.number] for z in es)
            if not through:
                found.add((a.loc, a.thread, b.thread))
        return found

    def pattern(self, w):
        """First operations of the release patterns that end with a write."""
        if w.order in ("release", "acq_rel"):
            yield w
        for f in self.events[:w.number]:
            if f.thread == w.thread and f.kind == "F" and f.order in ("acq_rel", "sc"):
                yield f


def barrier_of(execution, t, args):
    values = [execution.read(t, a) for a in args]
    return values[1] if len(values) > 1 else values[0], values[2] if len(values) > 2 else 0


def oracle(test):
    """Races in any interleaving, and whether every one that comes to its end has one."""
    executions = []
    for order in itertools.permutations(range(len(test.code))):
        executions.append(Execution(test, lambda ready: next(t for t in order if t in ready)))
    dice = random.Random(1)
    executions += [Execution(test, dice.choice) for _ in range(RANDOM_RUNS)]
    verdicts = [e.races() for e in executions]
    return set().union(*verdicts), all(verdicts), any(e.finished for e in executions)


# ---- the program

PTX = {"weak": "", "relaxed": ".relaxed", "acquire": ".acquire", "release": ".release", "acq_rel": ".acq_rel",
       "volatile": ".volatile"}


def ptx(test, order):
    """The kernel; `order` says which thread is the n-th. Returns text, blocks, warps, results (thread, register)."""
    ctas = sorted(set(test.places), key=lambda c: min(order.index(t) for t in range(len(order)) if test.places[t] == c))
    names = list(test.memory)
    results = sorted({(t, r) for t, code in enumerate(test.code) for _, args in code for r in args
                      if re.fullmatch(r"r\d+", r)})
    warps = max(sum(p == c for p in test.places) for c in ctas)
    lines = [".version 8.3", ".target sm_90a", ".address_size 64", "",
             ".visible .entry litmus(.param .u64 memory, .param .u64 results) {",
             "  .reg .pred %p<4>;", "  .reg .b32 %t<8>;", "  .reg .b64 %m<4>;",
             "  ld.param.u64 %m0, [memory];", "  ld.param.u64 %m1, [results];",
             "  mov.u32 %t0, %tid.x;", "  and.b32 %t1, %t0, 31;", "  setp.ne.u32 %p0, %t1, 0;", "  @%p0 ret;",
             "  shr.u32 %t0, %t0, 5;", "  mov.u32 %t1, %ctaid.x;"]
    seat = {}
    for c in ctas:
        for w, t in enumerate(t for t in order if test.places[t] == c):
            seat[t] = (ctas.index(c), w)
    for t, (c, w) in seat.items():
        lines += [f"  setp.eq.u32 %p0, %t1, {c};", f"  setp.eq.and.u32 %p0, %t0, {w}, %p0;", f"  @%p0 bra T{t};"]
    lines.append("  ret;")
    for t, code in enumerate(test.code):
        mine = [r for k, r in results if k == t]
        lines += [f"T{t}: {{", "  .reg .b32 " + ", ".join(["%n0", "%n1"] + [f"%{r}" for r in mine]) + ";"]
        lines += [f"  mov.u32 %{r}, {test.values(t, r)};" for r in mine]
        of = lambda a: f"%{a}" if re.fullmatch(r"r\d+", a) else a
        at = lambda a: f"[%m0+{names.index(a) * 128}]"
        for op, args in code:
            kind, order_, scope, known = semantics(op)
            how = PTX.get(order_, "") + ("" if order_ in ("weak", "volatile") else "." + scope)
            if kind == "label":
                lines.append(f"T{t}_{args[0]}:")
            elif kind == "goto":
                lines.append(f"  bra T{t}_{args[0]};")
            elif kind in ("beq", "bne"):
                lines += [f"  setp.{kind[1:]}.s32 %p1, {of(args[0])}, {of(args[1])};", f"  @%p1 bra T{t}_{args[2]};"]
            elif kind == "mov":
                lines.append(f"  mov.u32 {of(args[0])}, {of(args[1])};")
            elif kind in ("add", "sub"):
                lines.append(f"  {kind}.s32 {of(args[0])}, {of(args[1])}, {of(args[2])};")
            elif kind == "fence":
                lines.append(f"  fence.{order_}.{scope};")
            elif kind == "bar":
                name = of(args[1] if len(args) > 1 else args[0])
                here = sum(p == test.places[t] for p in test.places)
                count = int(args[2]) if len(args) > 2 else here
                lines.append(f"  barrier.cta.{'sync' if 'sync' in known else 'arrive'} {name}, {count * 32};")
            elif kind == "ld":
                lines.append(f"  ld{how}.global.b32 {of(args[0])}, {at(args[1])};")
            elif kind == "st":
                lines.append(f"  st{how}.global.b32 {at(args[0])}, {of(args[1])};")
            elif kind in ("atom", "red"):
                if kind == "red" and order_ in ("acquire", "acq_rel"):
                    raise NotUnderstood("red that acquires, which PTX does not have")
                what = known[-1]
                values = args[2:] if kind == "atom" else args[1:]
                place = at(args[1] if kind == "atom" else args[0])
                if what == "sub":
                    lines.append(f"  neg.s32 %n0, {of(values[0])};")
                    values, what = ["%n0"], "add"
                kind_of = {"add": "add.s32", "exch": "exch.b32", "cas": "cas.b32"}[what]
                to = f"{of(args[0])}, " if kind == "atom" else ""
                values = [v if v.startswith("%") else of(v) for v in values]
                lines.append(f"  {kind}{how}.global.{kind_of} {to}{place}, {', '.join(values)};")
            else:
                raise NotUnderstood(op)
        lines += [f"  st.global.b32 [%m1+{4 * k}], %{r};" for k, (who, r) in enumerate(results) if who == t]
        lines += ["  ret;", "}"]
    lines.append("}")
    return "\n".join(lines) + "\n", len(ctas), warps, results


def holds(condition, memory, registers):
    """The formula of a condition, of the values at the end."""
    text = re.sub(r"^(~?exists|forall)\s*", "", condition).replace("/\\", " and ").replace("\\/", " or ")
    text = re.sub(r"~\s*", " not ", text)
    text = re.sub(r"P?(\d+): *(r\d+)", lambda m: str(registers.get((int(m[1]), m[2]), 0)), text)
    text = re.sub(r"(?<![\w=!<>])([A-Za-z_]\w*)", lambda m: m[1] if m[1] in ("and", "or", "not") else
                  str(memory.get(m[1], 0)), text)
    text = re.sub(r"(?<![=!<>])=(?!=)", "==", text)
    try:
        return bool(eval(text, {"__builtins__": {}}))  # numbers, comparisons, and, or, not
    except SyntaxError:
        raise NotUnderstood(f"condition {condition}") from None


def run(test, order, args, folder):
    text, blocks, warps, results = ptx(test, order)
    file, report = folder / "litmus.ptx", folder / "findings.json"
    file.write_text(text)
    report.unlink(missing_ok=True)
    command = [args.understudy, "check", "--json", str(report), args.runner, str(file), str(blocks), str(32 * warps),
               str(len(results)), *map(str, test.memory.values())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    findings = json.loads(report.read_text())["findings"] if report.exists() else []
    names = {f["check"] for f in findings} - {"race-same-value"}
    line = next((l for l in done.stdout.splitlines() if "|" in l), None)
    if line is None:
        return names, None, None, done.stdout.strip()[-80:]
    left, right = line.split("|")
    return names, dict(zip(test.memory, map(int, left.split()))), dict(zip(results, map(int, right.split()))), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=pathlib.Path, required=True)
    parser.add_argument("--expected", type=pathlib.Path, required=True)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--understudy", default="build/bin/understudy")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    counts = dict.fromkeys(["run", "racy", "reported", "clean", "silent", "forbidden", "false", "missed", "skipped"], 0)
    with tempfile.TemporaryDirectory() as name:
        for row in args.expected.read_text().splitlines():
            path, _, _, verdict, *_ = row.split("\t")
            if args.only not in path:
                continue
            try:
                test = Test(args.tests / path)
                ptx(test, list(range(len(test.code))))
                holds(test.condition, {}, {})
            except (NotUnderstood, FileNotFoundError, ValueError, KeyError, IndexError) as e:
                counts["skipped"] += 1
                print(f"skipped   {path}: {e}")
                continue
            some, always, ends = oracle(test)
            counts["run"] += 1
            said, seen = set(), False
            for order in (list(range(len(test.code))), list(reversed(range(len(test.code))))):
                try:
                    names, memory, registers, why = run(test, order, args, pathlib.Path(name))
                except subprocess.TimeoutExpired:
                    print(f"slow      {path}")
                    continue
                said |= names
                if memory is None:
                    if ends and "deadlock" not in names:
                        print(f"failed    {path}: {why}")
                    continue
                holding = holds(test.condition, memory, registers)
                seen |= (verdict == "FORBIDDEN" and holding) or (verdict == "ALWAYS" and not holding)
                if always and not any(n.startswith("race") for n in names):
                    counts["missed"] += 1
                    print(f"missed    {path}: {sorted(some)}")
            races = {n for n in said if n.startswith("race")}
            counts["racy" if some else "clean"] += 1
            counts["reported"] += bool(some and races)
            counts["silent"] += not some and not races
            if seen:
                counts["forbidden"] += 1
                print(f"forbidden {path}")
            if races and not some:
                counts["false"] += 1
                print(f"false     {path}: {' '.join(sorted(races))}")
            if not races and some:
                print(f"quiet     {path}: a race in other interleavings only")
            if said - races:
                print(f"also      {path}: {' '.join(sorted(said - races))}")
    print(", ".join(f"{v} {k}" for k, v in counts.items()))
    return 1 if counts["forbidden"] or counts["false"] or counts["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
