#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the regular file tests: one kernel per instruction and type, one output array per combination of modifiers.

Tests that are not of this shape (warp, memory, barriers, calls) are written by hand beside the generated ones.
Run in tests/ptx: ./generate.py; check with: ptxas -arch=sm_90a."""
import itertools
import os

N = 4096
BITS = {"b8": 8, "u8": 8, "s8": 8}


def bits(t):
    if t in BITS:
        return BITS[t]
    if t.endswith("x2"):
        return 32 if "16" in t else 16
    return int("".join(c for c in t if c.isdigit()))


class Kernel:
    def __init__(self, name, ins, outs, n=N, extra=""):
        self.name, self.ins, self.outs, self.n, self.extra = name, ins, outs, n, extra

    def text(self):
        head = [f"// RUN: kernel={self.name} grid={self.n // 256} block=256{self.extra}"]
        for reg, t, spec in self.ins:
            head.append(f"// IN {reg}: {t}[{self.n}] = {spec}")
        for name, t, _, *expect in self.outs:
            head.append(f"// OUT {name}: {t}[{self.n}] = {expect[0] if expect else 'recorded'}")
        params = ", ".join(f".param .u64 p{k}" for k in range(len(self.ins) + len(self.outs)))
        body = [f".visible .entry {self.name}({params})", "{"]
        for reg, t, _ in self.ins:
            body.append(f"  .reg .b{max(bits(t), 16) if bits(t) != 8 else 32} %{reg};")
        body += ["  .reg .pred %p<8>;", "  .reg .b16 %h<8>;", "  .reg .b32 %r<12>, %i;", "  .reg .b64 %q<12>, %at;"]
        body += ["  mov.u32 %r0, %ctaid.x;", "  mov.u32 %r1, %ntid.x;", "  mov.u32 %r2, %tid.x;", "  mad.lo.u32 %i, %r0, %r1, %r2;"]
        for k, (reg, t, _) in enumerate(self.ins):
            load = t if bits(t) == 8 else f"b{bits(t)}"
            body += self.address(k, bits(t)) + [f"  ld.global.{load} %{reg}, [%at];"]
        for k, (_, t, code, *_) in enumerate(self.outs):
            w = bits(t)
            d = {8: "%r3", 16: "%h0", 32: "%r3", 64: "%q0"}[w]
            body += [f"  {line.strip()};" for line in code.replace("@d", d).split(";") if line.strip()]
            body += self.address(len(self.ins) + k, w) + [f"  st.global.b{w} [%at], {d};"]
        return "\n".join(head + body + ["  ret;", "}"])

    @staticmethod
    def address(k, w):
        return [f"  ld.param.u64 %q11, [p{k}];", f"  mul.wide.u32 %at, %i, {w // 8};", "  add.s64 %at, %at, %q11;"]


def write(path, about, kernels):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(f"// SPDX-License-Identifier: Apache-2.0\n// {about}. Written by generate.py.\n")
        f.write(".version 8.6\n.target sm_90a\n.address_size 64\n\n")
        f.write("\n\n".join(k.text() for k in kernels) + "\n")


def ident(*parts):
    return "_".join(p.replace(".", "_").replace("::", "_").strip("_") for p in parts if p) or "d"


def operands(t, n, seed=1):
    return [("abc"[k], t, f"cross {k}/{n} seed={seed + k}") for k in range(n)]


def combos(*choices):
    return ["".join(c) for c in itertools.product(*choices)]


def variants(op, mods, t, n, out=None):
    args = ", ".join(["@d"] + [f"%{'abc'[k]}" for k in range(n)])
    expect = "recorded any-nan" if t == "f64" and n > 1 else "recorded"
    return [(ident("d", m), out or t, f"{op}{m}.{t} {args}", expect) for m in mods]


INT = ["u16", "u32", "u64", "s16", "s32", "s64"]
RND = [".rn", ".rz", ".rm", ".rp"]


def simple(op, types, n, mods=("",), out=None):
    return [Kernel(ident(op, t), operands(t, n), variants(op, mods if not callable(mods) else mods(t), t, n, out)) for t in types]


def wide(t):
    return t[0] + str(2 * bits(t))


def integer():
    w = lambda name, about, ks: write(f"integer/{name}.ptx", about, ks)
    w("add", "add, sub: all integer types, .sat, packed", simple("add", INT, 2, lambda t: ["", ".sat"] if t == "s32" else [""]) +
      simple("sub", INT, 2, lambda t: ["", ".sat"] if t == "s32" else [""]) + simple("add", ["u16x2", "s16x2"], 2))
    w("mul", "mul.lo, .hi, .wide", [Kernel(f"mul_{t}", operands(t, 2), variants("mul", [".lo", ".hi"], t, 2) +
      ([("d_wide", wide(t), f"mul.wide.{t} @d, %a, %b")] if bits(t) < 64 else [])) for t in INT])
    w("mad", "mad.lo, .hi, .wide, .hi.sat", [Kernel(f"mad_{t}", operands(t, 3), variants("mad", [".lo", ".hi"] + ([".hi.sat"] if t == "s32" else []), t, 3))
      for t in INT] + [Kernel(f"mad_wide_{t}", operands(t, 2) + [("c", wide(t), "random seed=9")],
      [("d", wide(t), f"mad.wide.{t} @d, %a, %b, %c")]) for t in ["u16", "s16", "u32", "s32"]])
    w("mul24", "mul24, mad24", simple("mul24", ["u32", "s32"], 2, [".lo", ".hi"]) +
      simple("mad24", ["u32", "s32"], 3, lambda t: [".lo", ".hi"] + ([".hi.sat"] if t == "s32" else [])))
    w("sad", "sad", simple("sad", INT, 3))
    w("div", "div, rem; divisors that are zero excluded", [Kernel(f"div_{t}", operands(t, 2), [
        ("quotient", t, f"setp.eq.b{bits(t)} %p0, %b, 0; selp.b{bits(t)} @d, 1, %b, %p0; div.{t} @d, %a, @d"),
        ("rest", t, f"setp.eq.b{bits(t)} %p0, %b, 0; selp.b{bits(t)} @d, 1, %b, %p0; rem.{t} @d, %a, @d")]) for t in INT])
    w("div_zero", "div, rem by zero, as the hardware does it", [Kernel(f"div0_{t}", operands(t, 2), [
        ("quotient", t, f"xor.b{bits(t)} @d, %b, %b; div.{t} @d, %a, @d"),
        ("rest", t, f"xor.b{bits(t)} @d, %b, %b; rem.{t} @d, %a, @d")]) for t in INT])
    w("abs", "abs, neg", simple("abs", ["s16", "s32", "s64"], 1) + simple("neg", ["s16", "s32", "s64"], 1))
    w("minmax", "min, max: all integer types, packed, .relu", sum([simple(op, INT + ["u16x2", "s16x2"], 2,
      lambda t: ["", ".relu"] if t == "s32" else [""]) for op in ("min", "max")], []) +
      [Kernel(f"{op}_relu_s16x2", operands("s16x2", 2), [("d", "s16x2", f"{op}.s16x2.relu @d, %a, %b")]) for op in ("min", "max")])
    w("bits", "popc, clz, bfind, brev, fns", [Kernel(f"bits_b{n}", operands(f"b{n}", 1), [
        ("popc", "u32", f"popc.b{n} @d, %a"), ("clz", "u32", f"clz.b{n} @d, %a"), ("brev", f"b{n}", f"brev.b{n} @d, %a")] +
        [(ident("bfind", m, t), "u32", f"bfind{m}.{t}{n} @d, %a") for m in ("", ".shiftamt") for t in "us"]) for n in (32, 64)] +
      [Kernel("fns", [("a", "b32", "random seed=3"), ("b", "u32", "range low=0 high=31 seed=4"), ("c", "s32", "random seed=5")],
              [("d", "b32", "fns.b32 @d, %a, %b, %c"), ("d_small", "b32", "rem.s32 %r4, %c, 9; fns.b32 @d, %a, %b, %r4")])])
    field = [("b", "u32", "range low=0 high=70 seed=6"), ("c", "u32", "range low=0 high=70 seed=7")]
    anyc = [("b", "u32", "random seed=6"), ("c", "u32", "random seed=7")]
    w("bitfield", "bfe, bfi, bmsk, szext", [Kernel(f"bfe_{t}{x}", [("a", t, "random seed=5")] + f, [("d", t, f"bfe.{t} @d, %a, %b, %c")])
      for t in ["u32", "s32", "u64", "s64"] for x, f in (("", field), ("_any", anyc))] +
      [Kernel(f"bfi_b{n}", [("a", f"b{n}", "random seed=5"), ("e", f"b{n}", "random seed=8")] + field,
              [("d", f"b{n}", f"bfi.b{n} @d, %a, %e, %b, %c")]) for n in (32, 64)] +
      [Kernel("bmsk", field, [(ident("d", m), "b32", f"bmsk{m}.b32 @d, %b, %c") for m in (".clamp", ".wrap")]),
       Kernel("szext", [("a", "u32", "random seed=5")] + field[:1], [(ident(t, m), t, f"szext{m}.{t} @d, %a, %b") for m in (".clamp", ".wrap") for t in ("u32", "s32")])])
    w("dot", "dp4a, dp2a", [Kernel("dot", operands("b32", 3), [(ident("dp4a", x, y), "b32", f"dp4a.{x}.{y} @d, %a, %b, %c") for x in ("u32", "s32") for y in ("u32", "s32")] +
      [(ident("dp2a", h, x, y), "b32", f"dp2a.{h}.{x}.{y} @d, %a, %b, %c") for h in ("lo", "hi") for x in ("u32", "s32") for y in ("u32", "s32")])])
    carry = []
    for t in ("u32", "u64"):
        q = "%r4" if t == "u32" else "%q1"
        carry.append(Kernel(f"carry_{t}", operands(t, 3), [
            ("add_low", t, f"add.cc.{t} @d, %a, %b"), ("add_high", t, f"add.cc.{t} {q}, %a, %b; addc.{t} @d, %b, %c"),
            ("add_third", t, f"add.cc.{t} {q}, %a, %b; addc.cc.{t} {q}, %b, %c; addc.{t} @d, 0, 0"),
            ("sub_low", t, f"sub.cc.{t} @d, %a, %b"), ("sub_high", t, f"sub.cc.{t} {q}, %a, %b; subc.{t} @d, %b, %c"),
            ("sub_third", t, f"sub.cc.{t} {q}, %a, %b; subc.cc.{t} {q}, %b, %c; subc.{t} @d, 0, 0"),
            ("mad_lo", t, f"mad.lo.cc.{t} {q}, %a, %b, %c; addc.{t} @d, 0, 0"),
            ("mad_hi", t, f"mad.hi.cc.{t} {q}, %a, %b, %c; addc.{t} @d, 0, 0"),
            ("madc_hi", t, f"mad.lo.cc.{t} {q}, %a, %b, %c; madc.hi.{t} @d, %a, %b, %c"),
            ("madc_lo", t, f"mad.lo.cc.{t} {q}, %a, %b, %c; madc.lo.cc.{t} {q}, %b, %c, %a; addc.{t} @d, 0, 0"),
            ("sub_then_addc", t, f"sub.cc.{t} {q}, %a, %b; addc.{t} @d, %c, 0"), ("add_then_subc", t, f"add.cc.{t} {q}, %a, %b; subc.{t} @d, %c, 0"),
            ("add_then_subc_cc", t, f"add.cc.{t} {q}, %a, %b; subc.cc.{t} {q}, %c, 0; subc.{t} @d, %a, 0"),
            ("add_s", t, f"add.cc.s{t[1:]} {q}, %a, %b; addc.s{t[1:]} @d, 0, 0"), ("sub_s", t, f"sub.cc.s{t[1:]} {q}, %a, %b; subc.s{t[1:]} @d, 0, 0"),
            ("mad_hi_s", t, f"mad.hi.cc.s{t[1:]} {q}, %a, %b, %c; addc.{t} @d, 0, 0"),
            ("madc_hi_s", t, f"add.cc.{t} {q}, %a, %b; madc.hi.s{t[1:]} @d, %a, %b, %c")]))
    write("extended_precision/carry.ptx", "add.cc, addc, sub.cc, subc, mad.cc, madc", carry)


def logic():
    w = lambda name, about, ks: write(f"logic_shift/{name}.ptx", about, ks)
    w("logic", "and, or, xor, not, cnot, on registers and predicates", [Kernel(f"logic_b{n}", operands(f"b{n}", 2),
      [(op, f"b{n}", f"{op}.b{n} @d, %a, %b") for op in ("and", "or", "xor")] + [(op, f"b{n}", f"{op}.b{n} @d, %a") for op in ("not", "cnot")])
      for n in (16, 32, 64)] + [Kernel("logic_pred", operands("u32", 2), [(op, "u32", f"setp.lt.u32 %p0, %a, %b; setp.gt.s32 %p1, %a, %b; " +
      (f"{op}.pred %p2, %p0, %p1" if op != "not" else "not.pred %p2, %p0") + "; selp.u32 @d, 1, 0, %p2") for op in ("and", "or", "xor", "not")])])
    luts = [0x00, 0xff, 0x80, 0xfe, 0x96, 0xca, 0xe8, 0x1b, 0x6a, 0x3c, 0x55, 0x78, 0xd2, 0x0e, 0xf1, 0x27]
    w("lop3", "lop3 with several truth tables", [Kernel("lop3", operands("b32", 3), [(f"lut_{l:02x}", "b32", f"lop3.b32 @d, %a, %b, %c, {l:#x}") for l in luts])])
    shift = [("b", "u32", "range low=0 high=80 seed=4")]
    w("shift", "shl, shr, shf", [Kernel(f"shift_{n}", [("a", f"b{n}", "cross 0/1 seed=3")] + shift,
      [("shl", f"b{n}", f"shl.b{n} @d, %a, %b")] + [(f"shr_{t}", f"b{n}", f"shr.{t}{n} @d, %a, %b") for t in "bus"]) for n in (16, 32, 64)] +
      [Kernel("shf", operands("b32", 2) + [("c", "u32", "range low=0 high=80 seed=4")],
              [(ident(d, m), "b32", f"shf.{d}.{m}.b32 @d, %a, %b, %c") for d in "lr" for m in ("clamp", "wrap")])])
    w("prmt", "prmt", [Kernel("prmt", operands("b32", 2) + [("c", "b32", "random seed=8")],
      [(ident("d", m), "b32", f"prmt.b32{m} @d, %a, %b, %c") for m in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")] +
      [(f"imm_{s:04x}", "b32", f"prmt.b32 @d, %a, %b, {s:#x}") for s in (0x3210, 0x7654, 0x0123, 0x5410, 0x7632, 0xba98, 0x4440)])])


ICMP = ["eq", "ne", "lt", "le", "gt", "ge"]
FCMP = ICMP + ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


def compares(t):
    if t[0] == "b" and t[1] != "f":
        return ICMP[:2]
    return FCMP if t[0] in "fb" else ICMP + (["lo", "ls", "hi", "hs"] if t[0] == "u" else [])


def compare():
    w = lambda name, about, ks: write(f"compare_select/{name}.ptx", about, ks)
    types = ["b16", "b32", "b64"] + INT + ["f32", "f64", "f16", "bf16"]
    both = lambda t: "%p0" if t in ("f16", "bf16") else "%p0|%p1"  # halves have no second destination
    pair = "selp.u32 %r4, 1, 0, %p0; selp.u32 %r5, 2, 0, %p1; or.b32 @d, %r4, %r5"
    w("setp", "setp: every comparison of every type, both destinations", [Kernel(f"setp_{t}", operands(t, 2),
      [(ident(c, z), "u32", f"setp.ne.u32 %p1, 0, 0; setp.{c}{z}.{t} {both(t)}, %a, %b; {pair}") for c in compares(t) for z in ([""] + ([".ftz"] if t in ("f32", "f16") else []))]) for t in types])
    w("setp_bool", "setp with a combined predicate", [Kernel(f"setp_bool_{t}", operands(t, 2) + [("c", "u32", "random seed=9")],
      [(ident(c, o, n or "p"), "u32", f"and.b32 %r6, %c, 1; setp.ne.u32 %p2, %r6, 0; setp.ne.u32 %p1, 0, 0; setp.{c}.{o}.{t} {both(t)}, %a, %b, {n and '!'}%p2; {pair}")
       for c in ("lt", "eq") for o in ("and", "or", "xor") for n in ("", "not")]) for t in ("s32", "u64", "f32", "f64", "f16")])
    w("setp_x2", "setp on packed halves", [Kernel(f"setp_{t}", operands(t, 2), [(c, "u32", f"setp.{c}.{t} %p0|%p1, %a, %b; {pair}") for c in FCMP]) for t in ("f16x2", "bf16x2")])
    sets = []
    for t in ("u32", "s16", "u64", "f32", "f64"):
        for d in ("u32", "s32", "f32"):
            sets.append(Kernel(f"set_{d}_{t}", operands(t, 2), [(c, d, f"set.{c}.{d}.{t} @d, %a, %b") for c in (FCMP if t[0] == "f" else ICMP)] +
                        [("lt_and", d, f"setp.gt.s32 %p2, %i, 1000; set.lt.and.{d}.{t} @d, %a, %b, %p2")]))
    for t in ("f16", "bf16"):
        sets.append(Kernel(f"set_{t}", operands(t, 2), [(f"{c}_{d}", d, f"set.{c}.{d}.{t} @d, %a, %b") for c in ("eq", "ltu", "ne", "nan") for d in ("u16", "s16", "u32", "s32", t)]))
        sets.append(Kernel(f"set_{t}x2", operands(t + "x2", 2), [(f"{c}_{d}", d, f"set.{c}.{d}.{t}x2 @d, %a, %b") for c in ("eq", "ltu", "ne", "nan") for d in ("u32", "s32", t + "x2")]))
    w("set", "set", sets)
    w("select", "selp, slct", [Kernel(f"select_{t}", operands(t, 2) + [("c", "s32", "cross 0/1 seed=7"), ("e", "f32", "cross 0/1 seed=8")],
      [("selp", t, f"setp.lt.s32 %p0, %c, 100; selp.{t} @d, %a, %b, %p0"), ("slct_s32", t, f"slct.{t}.s32 @d, %a, %b, %c"),
       ("slct_f32", t, f"slct.{t}.f32 @d, %a, %b, %e"), ("slct_ftz", t, f"slct.ftz.{t}.f32 @d, %a, %b, %e")]) for t in ("b16", "u32", "s64", "f32", "f64")])


def floating():
    w = lambda name, about, ks: write(f"float/{name}.ptx", about, ks)
    f32 = combos([""] + RND, ["", ".ftz"], ["", ".sat"])
    for op, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("mad", 3)):
        need = op in ("fma", "mad")
        w(op, f"{op}.f32, {op}.f64: every rounding, .ftz, .sat", [Kernel(f"{op}_f32", operands("f32", n), variants(op, [m for m in f32 if m.startswith(".r") or not need], "f32", n)),
          Kernel(f"{op}_f64", operands("f64", n), variants(op, RND if need else [""] + RND, "f64", n))])
    ieee = combos(RND, ["", ".ftz"])
    w("div", "div, rcp, sqrt with IEEE rounding", [Kernel("div_f32", operands("f32", 2), variants("div", ieee, "f32", 2)), Kernel("div_f64", operands("f64", 2), variants("div", RND, "f64", 2)),
      Kernel("rcp_sqrt_f32", operands("f32", 1), [(ident(op, m), "f32", f"{op}{m}.f32 @d, %a") for op in ("rcp", "sqrt") for m in ieee]),
      Kernel("rcp_sqrt_f64", operands("f64", 1), [(ident(op, m), "f64", f"{op}{m}.f64 @d, %a") for op in ("rcp", "sqrt") for m in RND])])
    w("minmax", "min, max: NaN, xorsign, ftz", [Kernel(f"{op}_f32", operands("f32", 2), variants(op, combos(["", ".ftz"], ["", ".NaN"], ["", ".xorsign.abs"]), "f32", 2)) for op in ("min", "max")] +
      [Kernel(f"{op}_f64", operands("f64", 2), variants(op, [""], "f64", 2)) for op in ("min", "max")])
    w("sign", "abs, neg, copysign, testp", [Kernel(f"sign_{t}", operands(t, 2), [(ident(op, z), t, f"{op}{z}.{t} @d, %a") for op in ("abs", "neg") for z in (["", ".ftz"] if t == "f32" else [""])] +
      [("copysign", t, f"copysign.{t} @d, %a, %b")] + [(f"is_{c}", "u32", f"testp.{c}.{t} %p0, %a; selp.u32 @d, 1, 0, %p0") for c in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")]) for t in ("f32", "f64")])
    def approx(op, z=("", ".ftz"), t="f32", n=1):
        args = ", ".join(["%a", "%b"][:n])
        return [(ident(op, m), t, f"{op}{m}.{t} @d, {args}") for m in z]
    w("approx", "approximations", [
        Kernel("approx_f32", operands("f32", 1), sum([approx(f"{op}.approx") for op in ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2")], []) + approx("tanh.approx", ("",))),
        Kernel("approx_div_f32", operands("f32", 2), approx("div.approx", n=2) + approx("div.full", n=2)),
        Kernel("approx_f64", operands("f64", 1), approx("rcp.approx", (".ftz",), "f64") + approx("rsqrt.approx", ("", ".ftz"), "f64"))])


def half():
    w = lambda name, about, ks: write(f"half/{name}.ptx", about, ks)
    types = ["f16", "f16x2", "bf16", "bf16x2"]
    mods = lambda t: combos(["", ".rn"], ["", ".ftz"], ["", ".sat"]) if t[0] == "f" else ["", ".rn"]
    w("arithmetic", "add, sub, mul on halves", sum([simple(op, types, 2, mods) for op in ("add", "sub", "mul")], []))
    w("fma", "fma on halves", [Kernel(f"fma_{t}", operands(t, 3), variants("fma", [".rn", ".rn.relu"] + ([".rn.ftz", ".rn.sat", ".rn.ftz.sat", ".rn.ftz.relu"] if t[0] == "f" else []), t, 3)) for t in types])
    w("sign", "neg, abs on halves", sum([simple(op, types, 1, lambda t: ["", ".ftz"] if t[0] == "f" else [""]) for op in ("neg", "abs")], []))
    w("minmax", "min, max on halves", sum([simple(op, types, 2, lambda t: combos(["", ".ftz"] if t[0] == "f" else [""], ["", ".NaN"], ["", ".xorsign.abs"])) for op in ("min", "max")], []))
    ap = lambda op, t, z: (ident(op, z, t), t, f"{op}.approx{z}.{t} @d, %a")
    w("approx", "tanh, ex2 on halves", [Kernel(f"approx_{t}", operands(t, 1), [ap("tanh", t, ""), ap("ex2", t, "" if t[0] == "f" else ".ftz")]) for t in types])


CVT_INT = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"]


def narrows(d, t):
    if d[0] == "u":
        return t[0] == "s" or bits(d) < bits(t)
    return bits(d) < bits(t) or (t[0] == "u" and bits(d) == bits(t))


def convert():
    w = lambda name, about, ks: write(f"conversion/{name}.ptx", about, ks)
    w("int_int", "cvt between integers, .sat", [Kernel(f"from_{t}", operands(t, 1), [(ident(d, s), "b64" if bits(d) == 64 else "b32",
      (f"cvt{s}.{d}.{t} @d, %a")) for d in CVT_INT for s in ("", ".sat") if not s or narrows(d, t)]) for t in CVT_INT])
    w("int_float", "cvt from floats to integers", [Kernel(f"from_{t}", operands(t, 1), [(ident(d, m), "b64" if bits(d) == 64 else "b16" if t == "bf16" and bits(d) <= 16 else "b32",
      f"cvt{m}.{d}.{t} @d, %a") for d in CVT_INT if (t, bits(d)) != ("bf16", 8) for m in combos([".rni", ".rzi", ".rmi", ".rpi"], ["", ".ftz"] if t == "f32" else [""])]) for t in ("f16", "bf16", "f32", "f64")])
    w("float_int", "cvt from integers to floats", [Kernel(f"from_{t}", operands(t, 1), [(ident(d, m), d, f"cvt{m}.{d}.{t} @d, %a")
      for d in ("f16", "bf16", "f32", "f64") if (d, bits(t)) != ("bf16", 8) for m in RND + ([".rn.sat"] if d != "bf16" else [])]) for t in CVT_INT])
    ff = [("f32", "f64", RND, [""]), ("f64", "f32", [""], ["", ".ftz"]), ("f16", "f32", [".rn", ".rz"], [""]), ("f32", "f16", [""], [""]), ("f16", "f64", RND, [""]),
          ("f64", "f16", [""], [""]), ("f32", "bf16", [""], [""]), ("bf16", "f32", [".rn", ".rz"], [""]), ("bf16", "f64", RND, [""]), ("f64", "bf16", [""], [""])]
    ks = []
    for d, t, rnd, z in ff:
        ks.append(Kernel(f"{d}_{t}", operands(t, 1), [(ident("d", r, y, s), d, f"cvt{r}{y}{s}.{d}.{t} @d, %a") for r in rnd for y in z for s in (["", ".sat"] if "bf16" not in (d, t) else [""])]))
    for t in ("f16", "f32", "f64"):
        ks.append(Kernel(f"integral_{t}", operands(t, 1), [(ident("d", r, y, s), t, f"cvt{r}{y}{s}.{t}.{t} @d, %a") for r in (".rni", ".rzi", ".rmi", ".rpi") for y in (["", ".ftz"] if t == "f32" else [""]) for s in ("", ".sat")]))
    ks.append(Kernel("same_f32", operands("f32", 1), [(ident("d", m), "f32", f"cvt{m}.f32.f32 @d, %a") for m in ("", ".ftz", ".sat", ".ftz.sat")]))
    w("float_float", "cvt between floats, rounding to integers", ks)
    pk = [Kernel(f"pack_{d}", operands("f32", 2), [(ident("d", m), d, f"cvt{m}.{d}.f32 @d, %a, %b") for m in combos([".rn", ".rz"], ["", ".relu"])]) for d in ("f16x2", "bf16x2")]
    pk += [Kernel(f"relu_{d}", operands("f32", 1), [(ident("d", m), d, f"cvt{m}.{d}.f32 @d, %a") for m in (".rn.relu", ".rz.relu")]) for d in ("f16", "bf16")]
    pk += [Kernel("tf32", operands("f32", 1), [(ident("d", m), "b32", f"cvt{m}.tf32.f32 @d, %a") for m in (".rna", ".rn", ".rz", ".rn.relu", ".rz.relu")])]
    pk += [Kernel(f"pack_{e}", operands("f32", 2), [(ident("d", m), "b16", f"cvt.rn.satfinite{m}.{e}.f32 @d, %a, %b") for m in ("", ".relu")]) for e in ("e4m3x2", "e5m2x2")]
    pk += [Kernel(f"pack_{e}_f16x2", operands("f16x2", 1), [(ident("d", m), "b16", f"cvt.rn.satfinite{m}.{e}.f16x2 @d, %a") for m in ("", ".relu")]) for e in ("e4m3x2", "e5m2x2")]
    pk += [Kernel(f"unpack_{e}", [("a", "b16", "iota")], [(ident("d", m), "b32", f"cvt.rn{m}.f16x2.{e} @d, %a") for m in ("", ".relu")], n=65536) for e in ("e4m3x2", "e5m2x2")]
    w("packed", "cvt to and from packed halves, tf32, 8-bit floats", pk)
    w("cvt_pack", "cvt.pack", [Kernel("cvt_pack", operands("s32", 2) + [("c", "b32", "random seed=8")], [(t, "b32", f"cvt.pack.sat.{t}.s32 @d, %a, %b") for t in ("u16", "s16")] +
      [(t, "b32", f"cvt.pack.sat.{t}.s32.b32 @d, %a, %b, %c") for t in ("u8", "s8")])])


def warp():
    w = lambda name, about, ks: write(f"warp/{name}.ptx", about, ks)
    shfl = []
    for mode in ("up", "down", "bfly", "idx"):
        outs = []
        for clamp in (0, 0x1f, 0x181f, 0x1c1f, 0x1f, 0x1800, 0x0f07):
            outs.append((f"c_{clamp:04x}_{len(outs)}", "b32", f"and.b32 %r4, %b, 63; shfl.sync.{mode}.b32 @d|%p0, %a, %r4, {clamp:#x}, -1; selp.b32 %r5, 0x80000000, 0, %p0; xor.b32 @d, @d, %r5"))
        outs.append(("imm", "b32", f"shfl.sync.{mode}.b32 @d, %a, 3, 0x1f, -1"))
        outs.append(("varying_c", "b32", f"and.b32 %r4, %c, 0x1f1f; shfl.sync.{mode}.b32 @d|%p0, %a, %b, %r4, -1; selp.b32 %r5, 0x80000000, 0, %p0; xor.b32 @d, @d, %r5"))
        shfl.append(Kernel(f"shfl_{mode}", [("a", "b32", "random seed=2"), ("b", "b32", "random seed=3"), ("c", "b32", "random seed=4")], outs))
    w("shfl", "shfl.sync: all modes, clamps and segments, with the predicate", shfl)
    half = "mov.u32 %r4, %laneid; and.b32 %r4, %r4, 16; setp.ne.u32 %p2, %r4, 0; selp.b32 %r5, 0xffff0000, 0x0000ffff, %p2; setp.lt.u32 %p0, %a, %b"
    votes = [(ident(m, x), "u32", f"{half}; vote.sync.{m}.pred %p1, {x and '!'}%p0, %r5; selp.u32 @d, 1, 0, %p1") for m in ("all", "any", "uni") for x in ("", "not")]
    votes += [("ballot", "b32", f"{half}; vote.sync.ballot.b32 @d, %p0, %r5"), ("ballot_full", "b32", "setp.gt.s32 %p0, %a, %b; vote.sync.ballot.b32 @d, %p0, -1"),
              ("ballot_not", "b32", "setp.gt.s32 %p0, %a, %b; vote.sync.ballot.b32 @d, !%p0, -1"),
              ("all_low", "u32", "setp.ge.u32 %p0, %a, 0; vote.sync.all.pred %p1, %p0, -1; selp.u32 @d, 1, 0, %p1")]
    w("vote", "vote.sync with whole and half warps", [Kernel("vote", operands("u32", 2), votes)])
    match = []
    for n in (32, 64):
        q = "%r4" if n == 32 else "%q1"
        for keep in (1, 3, 0xff):
            match.append(Kernel(f"match_b{n}_{keep}", [("a", f"b{n}", "random seed=5")], [
                ("any", "b32", f"and.b{n} {q}, %a, {keep}; match.any.sync.b{n} @d, {q}, -1"),
                ("all", "b32", f"and.b{n} {q}, %a, {keep}; match.all.sync.b{n} @d|%p0, {q}, -1; selp.b32 %r5, 1, 0, %p0; shl.b32 %r5, %r5, 7; xor.b32 @d, @d, %r5"),
                ("all_same", "b32", f"mov.b{n} {q}, 7; match.all.sync.b{n} @d|%p0, {q}, -1; selp.b32 %r5, 1, 0, %p0; shl.b32 %r5, %r5, 7; xor.b32 @d, @d, %r5")]))
    w("match", "match.any, match.all", match)
    w("redux", "redux.sync, elect, activemask", [Kernel("redux", operands("u32", 2), [(ident(op, t), t, f"redux.sync.{op}.{t} @d, %a, -1") for op, t in
      [(o, t) for o in ("add", "min", "max") for t in ("u32", "s32")] + [(o, "b32") for o in ("and", "or", "xor")]] +
      [(ident(op, t, "half"), t, f"{half}; redux.sync.{op}.{t} @d, %a, %r5") for op, t in (("add", "u32"), ("min", "s32"), ("max", "u32"), ("xor", "b32"))] +
      [("elect", "b32", "elect.sync @d|%p0, -1; selp.b32 %r4, 1000, 0, %p0; add.u32 @d, @d, %r4"), ("elect_half", "b32", f"{half}; elect.sync @d|%p0, %r5; selp.b32 %r4, 1000, 0, %p0; add.u32 @d, @d, %r4"),
       ("activemask", "b32", "activemask.b32 @d")])])
    regs = [f"{r}.{c}" for r in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid") for c in "xyz"]
    regs += ["laneid", "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge", "cluster_ctarank", "cluster_nctarank", "nsmid", "dynamic_smem_size", "total_smem_size", "nwarpid"]
    w("sregs", "special registers", [Kernel("sregs", [], [(ident(r), "u32", f"mov.u32 @d, %{r}") for r in regs] +
      [("explicit_cluster", "u32", "mov.pred %p0, %is_explicit_cluster; selp.u32 @d, 1, 0, %p0"), ("clock_advances", "u32", "mov.u64 %q1, %clock64; mov.u64 %q2, %clock64; setp.ge.u64 %p0, %q2, %q1; selp.u32 @d, 1, 0, %p0"),
       ("timer_advances", "u32", "mov.u64 %q1, %globaltimer; nanosleep.u32 2000; mov.u64 %q2, %globaltimer; setp.ge.u64 %p0, %q2, %q1; selp.u32 @d, 1, 0, %p0")])])


def atomics():
    def kernel(t, ops, space):
        w = bits(t)
        n, outs = 1024, []
        k = Kernel(f"atom_{space}_{t}", operands(t, 3), [], n=n)
        d = {16: "%h0", 32: "%r3", 64: "%q0"}[w]
        for op, suffix in ops:
            form = f"{op}.{suffix}" if suffix != t else f"{op}.{t}"
            args = "%b, %c" if op == "cas" else "%b"
            name = ident(op, suffix)
            outs.append((name, w, f"atom.{space}.{form} {d}, [%cell], {args}", d))
            if op not in ("cas", "exch"):
                outs.append((name + "_red", w, f"red.{space}.{form} [%cell], {args}", None))
        head = [f"// RUN: kernel={k.name} grid={n // 256} block=256"] + [f"// IN {r}: {ty}[{n}] = {sp}" for r, ty, sp in k.ins]
        arrays = []
        for name, _, _, dd in outs:
            arrays += ([f"old_{name}"] if dd else []) + [f"new_{name}"]
        head += [f"// OUT {a}: b{w}[{n}] = recorded{' any-nan' if t == 'f64' else ''}" for a in arrays]
        params = ", ".join(f".param .u64 p{j}" for j in range(len(k.ins) + len(arrays)))
        body = [f".visible .entry {k.name}({params})", "{"]
        body += [f"  .reg .b{w} %{r};" for r, _, _ in k.ins] + ["  .reg .b16 %h<8>;", "  .reg .b32 %r<12>, %i;", "  .reg .b64 %q<12>, %at, %cell;"]
        body += [f"  .shared .align 16 .b8 {k.name}_cells[4096];"] if space == "shared" else []
        body += ["  mov.u32 %r0, %ctaid.x;", "  mov.u32 %r1, %ntid.x;", "  mov.u32 %r2, %tid.x;", "  mad.lo.u32 %i, %r0, %r1, %r2;"]
        for j, (r, _, _) in enumerate(k.ins):
            body += Kernel.address(j, w) + [f"  ld.global.b{w} %{r}, [%at];"]
        at = len(k.ins)
        for name, _, code, dd in outs:
            new = at + (1 if dd else 0)
            body += Kernel.address(new, w) + ["  mov.b64 %cell, %at;"]
            if space == "shared":
                body += [f"  mov.u64 %cell, {k.name}_cells;", "  mul.wide.u32 %q3, %r2, 16;", "  add.s64 %cell, %cell, %q3;"]
            body += [f"  st.{space}.b{w} [%cell], %a;", f"  {code};"]
            if space == "shared":
                tmp = {16: "%h1", 32: "%r4", 64: "%q1"}[w]
                body += [f"  ld.shared.b{w} {tmp}, [%cell];", f"  st.global.b{w} [%at], {tmp};"]
            if dd:
                body += Kernel.address(at, w) + [f"  st.global.b{w} [%at], {d};"]
            at = new + 1
        k.text = lambda: "\n".join(head + body + ["  ret;", "}"])
        return k
    table = [("b32", [(o, "b32") for o in ("and", "or", "xor", "exch", "cas")]), ("b64", [(o, "b64") for o in ("and", "or", "xor", "exch", "cas")]),
             ("u32", [(o, "u32") for o in ("add", "inc", "dec", "min", "max")]), ("s32", [(o, "s32") for o in ("add", "min", "max")]),
             ("u64", [(o, "u64") for o in ("add", "min", "max")]), ("s64", [(o, "s64") for o in ("min", "max")]), ("b16", [("cas", "b16")]),
             ("f32", [("add", "f32")]), ("f64", [("add", "f64")])] + [(t, [("add.noftz", t)]) for t in ("f16", "f16x2", "bf16", "bf16x2")]
    for space in ("global", "shared"):
        write(f"atomics/{space}.ptx", f"atom and red on {space} memory, one cell per thread", [kernel(t, ops, space) for t, ops in table])


def video():
    w = lambda name, about, ks: write(f"video/{name}.ptx", about, ks)
    types = [".u32.u32.u32", ".s32.s32.s32", ".s32.u32.s32", ".u32.s32.u32"]
    scalar = []
    for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        outs = []
        for ty in types:
            outs.append((ident(ty), "b32", f"{op}{ty} @d, %a, %b"))
            outs.append((ident(ty, "sel"), "b32", f"{op}{ty} @d, %a.b1, %b.h1"))
            outs += [(ident(ty, o), "b32", f"{op}{ty}.sat.{o} @d, %a.b3, %b.h0, %c") for o in ("add", "min", "max")]
        scalar.append(Kernel(op, operands("b32", 3), outs))
    for op in ("vshl", "vshr"):
        scalar.append(Kernel(op, operands("b32", 3), [(ident(t, m, q), "b32", f"{op}.{t}.{t}.u32{q}.{m} @d, %a, %b{sel}") for t in ("u32", "s32") for m in ("clamp", "wrap") for q, sel in (("", ".b0"),)]))
    scalar.append(Kernel("vset", operands("b32", 3), [(ident(ty, c), "u32", f"vset{ty}.{c} @d, %a.b1, %b.b2") for ty in (".u32.u32", ".s32.u32", ".s32.s32") for c in ICMP] +
                         [("add", "u32", "vset.s32.s32.lt.add @d, %a, %b, %c"), ("merge", "u32", "vset.u32.u32.ge @d.b1, %a, %b, %c")]))
    # vmad: likewise where the product does not fit in 32 bits and is scaled or clamped
    mad = [("u32_u32", "b32", "vmad.u32.u32.u32 @d, %a, %b, %c"), ("s32_u32", "b32", "vmad.s32.s32.u32 @d, %a.b1, %b, %c")]
    mad += [(ident("u32", "s32", m), "b32", f"vmad.s32.u32.s32{m} @d, %a.h1, %b.h0, %c") for m in ("", ".sat", ".shr7", ".sat.shr15")]
    scalar.append(Kernel("vmad", operands("b32", 3), mad))
    # .sat of 32-bit results and merging into a part: the assembler's emulation differs from the ISA's text
    # (DEVIATIONS.md)
    w("scalar", "vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset", scalar)
    simd = []
    for n, sel in ((2, ("h", "12", "03")), (4, ("b", "7520", "3461"))):
        for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg"):
            outs = []
            for ty in types:
                outs += [(ident(ty, q), "b32", f"{op}{n}{ty}{q} @d, %a, %b, %c") for q in ("", ".sat", ".add")]
                outs.append((ident(ty, "sel"), "b32", f"{op}{n}{ty}.sat @d, %a.{sel[0]}{sel[1]}, %b.{sel[0]}{sel[2]}, %c"))
                outs.append((ident(ty, "mask"), "b32", f"{op}{n}{ty} @d.{sel[0]}{'10' if n == 4 else '1'}, %a, %b, %c"))
            simd.append(Kernel(f"{op}{n}", operands("b32", 3), outs))
        simd.append(Kernel(f"vset{n}", operands("b32", 3), [(ident(ty, c, q), "u32", f"vset{n}{ty}.{c}{q} @d, %a, %b, %c") for ty in (".u32.u32", ".s32.s32") for c in ("lt", "eq", "ge") for q in ("", ".add")]))
    w("simd", "video instructions on two and four lanes", simd)


if __name__ == "__main__":
    for chapter in (video, integer, logic, compare, floating, half, convert, warp, atomics):
        chapter()
