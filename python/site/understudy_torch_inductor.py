# SPDX-License-Identifier: Apache-2.0
"""An operator's call through Inductor: which kernel it wants, and its launch.

    arguments ─▶ Taken: tensors, numbers as tensors of one element, everything else as it stands
       │   signature: types, sizes, strides, alignment ─▶ known already: launch
       └── class: what of them code is made for        ─▶ kernels of this class, each with the condition that it holds under
                                                          ─▶ in memory, on disk, or compiled now (understudy_torch_compile)

Operands of one shape and dense are taken as one dimension where an operator treats each element alike. Kernels run in the
current stream and the call returns before they have ended. What is refused goes to the CPU; its reason is kept as a kernel would be.
"""
import functools
import math
import os
import threading

import torch
import understudy_torch_keys as keys
from understudy_torch_forms import POINTWISE, Refused, form_of
from understudy_torch_operator import Operator, tally

FORMS_OF_ONE_CLASS = 12  # an operator called with ever new numbers (`x[i]`, i counting) is not compiled without end
TYPES = {
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool,
    torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8,
}  # fmt: skip
lock = threading.RLock()
here = threading.local()


class Kernel:
    def __init__(self, call, record):
        self.call, self.returns, self.places = call, record["returns"], record["places"]

    def sizes(self, signs):
        """What the code is told of sizes and strides before the operands."""
        return [signs[i][1 + kind][d] for i, kind, d in self.places]


class Routes:
    """What is known of one operator."""

    def __init__(self, operator):
        self.exact = {}  # signature -> (Kernel, sizes), or why not
        self.classes = {}  # class -> [(condition, Kernel or why not)]
        self.variety = {}
        self.in_place = "self" in operator.written and not operator.outs
        self.form, self.numbers, self.predicate = form_of(operator.op, self.in_place)
        base = operator.name.removesuffix("_") if self.in_place else operator.name
        self.pointwise = operator.pointwise or base in POINTWISE
        self.functional = functional(operator) if operator.outs else None


def functional(operator):
    """The overload that returns what this one writes into `out`."""
    wanted = [(a.name, str(a.type)) for a in operator.arguments if not a.is_out]
    for name in operator.op.overloadpacket.overloads():
        other = getattr(operator.op.overloadpacket, name)
        arguments = other._schema.arguments
        if [(a.name, str(a.type)) for a in arguments] == wanted and not any(a.alias_info and a.alias_info.is_write for a in arguments):
            return Operator(other)
    return None


@functools.lru_cache(maxsize=4096)
def dense(size, stride):
    return keys.is_dense(size, stride)


def category(dtype):
    return 2 if dtype.is_floating_point else int(dtype is not torch.bool)


class Taken:
    """A call, taken apart."""

    def __init__(self, operator, routes, given):
        self.operator, self.routes = operator, routes
        self.tensors, self.signs, self.pending, self.flat = [], [], [], None
        self.parts = tuple((a.name, self.part(a, given[a.name])) for a in operator.arguments if a.name in given)
        self.add_numbers()
        if routes.pointwise:
            self.flatten()
        if operator.written:
            self.refuse_overlaps(given)
        self.signature = (self.parts, tuple(self.signs))

    def part(self, argument, value):
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, (list, tuple)):
            return ("L", tuple(self.part(None, v) for v in value))
        if isinstance(value, (bool, int, float)):
            name = argument.name if argument is not None else ""
            if name in self.operator.tensors:
                return self.number(value)
            if name in self.routes.numbers:
                if value == 1 and argument.has_default_value():
                    return ("S", "NoneType", None)
                if self.routes.predicate is None or self.routes.predicate(value):
                    return self.number(value)
            return ("S", type(value).__name__, repr(value) if isinstance(value, float) else value)
        if isinstance(value, complex):
            raise Refused("complex numbers")
        return ("S", type(value).__name__, value)

    def tensor(self, t):
        dtype = t.dtype
        if dtype not in TYPES or t.layout is not torch.strided:
            raise Refused(f"tensors of {str(dtype if t.layout is torch.strided else t.layout).removeprefix('torch.')}")
        if t.is_cuda:
            if t.numel() == 0:
                raise Refused("a tensor without elements")
            address = t.data_ptr()
            if address % 16 and not t.storage_offset():
                raise Refused("memory that is not aligned")
            self.signs.append((dtype, tuple(t.size()), t.stride(), address % 16 == 0, t.device.index))
        elif t.dim() == 0 and t.device.type == "cpu":
            self.signs.append((dtype, None))
        else:
            raise Refused(f"a tensor of the {t.device.type}'s among its operands")
        self.tensors.append(t)
        return ("T", len(self.tensors) - 1)

    def number(self, value):
        self.pending.append((len(self.tensors), value))
        self.tensors.append(None)
        self.signs.append(None)
        return ("T", len(self.tensors) - 1)

    def add_numbers(self):
        """Numbers as operands, of a type that leaves the result's as PyTorch has it for numbers."""
        if not self.pending:
            return
        types = [s[0] for s in self.signs if s is not None and s[1]] or [s[0] for s in self.signs if s is not None]
        if not types:
            raise Refused("nothing but numbers")
        lead = max(types, key=category)
        single = not any(s[1] for s in self.signs if s is not None)
        for i, value in self.pending:
            kind = 2 if isinstance(value, float) else int(not isinstance(value, bool))
            if self.routes.form is not None and kind > category(lead):  # it is written into the tensor, or refused by PyTorch
                if not math.isfinite(value) or value != int(value) or (not category(lead) and value not in (0, 1)):
                    raise Refused("a number that the tensor's type does not have")
                kind, value = category(lead), int(value)
            if kind > category(lead):
                dtype = (torch.bool, torch.int64, torch.get_default_dtype())[kind]
            elif single:
                dtype = lead
            else:
                dtype = (torch.bool, torch.int64, torch.float64)[category(lead)]
            self.tensors[i] = torch.tensor(value, dtype=dtype)
            self.signs[i] = (dtype, None)

    def flatten(self):
        shapes = {s[1:3] for s in self.signs if s[1]}
        if len(shapes) != 1:
            return
        size, stride = next(iter(shapes))
        if len(size) == 1 or not dense(size, stride):
            return
        self.flat = size, stride
        for i, s in enumerate(self.signs):
            if s[1]:
                n = self.tensors[i].numel()
                self.tensors[i] = self.tensors[i].as_strided((n,), (1,))
                self.signs[i] = (s[0], (n,), (1,), *s[3:])

    def refuse_overlaps(self, given):
        """Operands that the result is written over while they are read, unless element by element."""
        written = [t for name in self.operator.written for t in [given.get(name)] if isinstance(t, torch.Tensor)]
        for w in written:
            if keys.overlaps_itself(tuple(w.size()), w.stride()):
                raise Refused("a result whose elements share memory")
            others = [t for t in self.tensors if t.is_cuda and t.untyped_storage()._cdata == w.untyped_storage()._cdata]
            for t in others:
                same = t.data_ptr() == w.data_ptr() and (self.flat or (t.size() == w.size() and t.stride() == w.stride()))
                if not same and len(others) > 1:
                    raise Refused("operands that share memory with the result")

    def class_key(self):
        signs = []
        for s in self.signs:
            signs.append((str(s[0]), None) if s[1] is None else (str(s[0]), keys.layout_class(s[1], s[2]), s[3], s[4]))
        return (str(self.operator.op), self.parts_key(self.parts), tuple(signs), self.precision())

    def parts_key(self, part):
        return tuple(self.parts_key(p) for p in part) if isinstance(part, tuple) else part if isinstance(part, (int, str, bool)) else str(part)

    @staticmethod
    def precision():
        return str(torch.backends.cuda.matmul.fp32_precision), str(torch.backends.cudnn.fp32_precision)


class Shape:
    """What a condition asks of a tensor."""

    def __init__(self, sign):
        self._size, self._stride, self._aligned = sign[1], sign[2], sign[3]

    def size(self):
        return self._size

    def stride(self):
        return self._stride

    def storage_offset(self):
        return 0 if self._aligned else 1


def holds(condition, signs):
    if condition is None:
        return True
    from torch.fx.experimental.symbolic_shapes import SYMPY_INTERP

    return bool(eval(condition, SYMPY_INTERP, {"L": {f"t{i}": Shape(s) for i, s in enumerate(signs) if s[1] is not None}}))


def filled(part, tensors):
    kind = part[0]
    if kind == "T":
        return tensors[part[1]]
    if kind == "L":
        return [filled(p, tensors) for p in part[1]]
    return float(part[2]) if part[1] == "float" else part[2]


def program(operator, routes, parts):
    """The operator as a function of its tensors, which returns the results that are no arguments."""
    keyword = {a.name for a in operator.arguments if a.kwarg_only}

    def run(*tensors):
        values = {name: filled(p, tensors) for name, p in parts}
        if routes.form is not None:
            result = routes.form(**values)
            if routes.in_place:
                values["self"].copy_(result)
                return []
        else:
            result = operator.op(*(v for n, v in values.items() if n not in keyword), **{n: v for n, v in values.items() if n in keyword})
        results = [result] if len(operator.returned) == 1 else list(result or ())
        return [r for r, name in zip(results, operator.returned) if name is None]

    return run


@functools.cache
def store():
    from torch._inductor.runtime.cache_dir_utils import cache_dir

    version = [torch.__version__, torch.cuda.get_device_capability()]
    folder = os.path.dirname(os.path.abspath(__file__))
    for name in ("keys", "forms", "inductor", "compile"):
        with open(os.path.join(folder, f"understudy_torch_{name}.py"), encoding="utf-8") as source:
            version.append(keys.digest(source.read()))
    return keys.Store(os.path.join(cache_dir(), "understudy_torch"), repr(version))


def in_own_thread(function, device):
    """In a thread of its own no mode, key or stream of the caller's is set; what it asks of CUDA tensors goes to the CPU."""
    out = []

    def run():
        here.compiling = True
        try:
            torch.cuda.set_device(device)
            out.append((function(), None))
        except BaseException as e:
            out.append((None, e))

    thread = threading.Thread(target=run, name="understudy_torch")
    thread.start()
    thread.join()
    if out[0][1] is not None:
        raise out[0][1]
    return out[0][0]


def loaded(record, device):
    import understudy_torch_compile

    tally.loaded += 1
    return Kernel(in_own_thread(lambda: understudy_torch_compile.load(record["code"]), device), record)


def found(taken, device):
    """A Kernel, or why there is none."""
    operator, routes = taken.operator, taken.routes
    key = taken.class_key()
    if key not in routes.classes:
        routes.classes[key] = [[r.get("condition"), r, r.get("why")] for r in store().load(key)]
    for entry in routes.classes[key]:
        if holds(entry[0], taken.signs):
            if entry[2] is None:
                try:
                    entry[2] = loaded(entry[1], device)
                except Exception as e:
                    entry[2] = reason_of(e)
            return entry[2]
    variety = routes.variety.setdefault(key[2], set())
    variety.add(key[1])
    if len(variety) > FORMS_OF_ONE_CLASS:
        return "called in too many forms"
    record = compiled(taken, device)
    kernel = record.pop("kernel", None) or record["why"]
    routes.classes[key].append([record.get("condition"), record, kernel])
    if record.get("keep", True):
        store().save(key, [r for _, r, _ in routes.classes[key] if r.get("keep", True)])
    return kernel


def reason_of(e):
    return f"{type(e).__name__}: {' '.join(str(e).split())[:160]}" if not isinstance(e, Refused) else str(e)


def compiled(taken, device):
    import time

    import understudy_torch_compile

    begin = time.perf_counter()
    function = program(taken.operator, taken.routes, taken.parts)
    try:
        record, call = in_own_thread(lambda: understudy_torch_compile.make(function, taken, device), device)
    except Refused as e:
        return {"why": str(e)}
    except Exception as e:
        if os.environ.get("UNDERSTUDY_TORCH_REPORT") == "2":
            import traceback

            traceback.print_exception(e)
        return {"why": reason_of(e), "keep": False}
    finally:
        tally.seconds += time.perf_counter() - begin
    tally.compiled += 1
    return {**record, "kernel": Kernel(call, record)}


def attempt(operator, given, device):
    """(True, the result) or (False, why not)."""
    if getattr(here, "compiling", False):
        return False, "asked for while compiling"
    if operator.random:
        return False, "random numbers"
    routes = operator.routes
    if routes is None:
        routes = operator.routes = Routes(operator)
    if operator.outs:
        return into_outs(operator, routes, given, device)
    try:
        if operator.name == "copy_" and not (given["self"].is_cuda and given["src"].is_cuda):
            return across(operator, given["self"], given["src"])
        taken = Taken(operator, routes, given)
    except Refused as e:
        return False, str(e)
    known = routes.exact.get(taken.signature)
    if known is None:
        with lock:
            kernel = found(taken, device)
        known = routes.exact[taken.signature] = kernel if isinstance(kernel, str) else (kernel, kernel.sizes(taken.signs))
    if isinstance(known, str):
        return False, known
    kernel, sizes = known
    outs = kernel.call([*sizes, *taken.tensors])
    if taken.flat is not None:
        outs = [o.as_strided(*taken.flat) for o in outs]
    results, position = [], 0
    for name in operator.returned:
        if name is not None:
            results.append(given[name])
            continue
        shape = kernel.returns[position]
        results.append(None if shape is None else outs[shape] if isinstance(shape, int) else [outs[i] for i in shape])
        position += 1
    return True, None if not results else results[0] if len(results) == 1 else tuple(results)


def into_outs(operator, routes, given, device):
    if routes.functional is None:
        return False, "only with out="
    done, result = attempt(routes.functional, {n: v for n, v in given.items() if n not in operator.outs}, device)
    if not done:
        return False, result
    names = [a.name for a in operator.arguments if a.is_out]
    for name, value in zip(names, [result] if len(names) == 1 else result):
        for t, v in zip([given[name]] if isinstance(given[name], torch.Tensor) else given[name], [value] if isinstance(value, torch.Tensor) else value):
            if t.size() != v.size():
                t.resize_(v.size())
            t.copy_(v)
    return True, given[names[0]] if len(names) == 1 else tuple(given[n] for n in names)


def across(operator, to, source):
    """A copy between host and device that the driver does not do in one piece: it moves a piece, a kernel lays it out."""
    if to.numel() == 0 or to.is_conj() or to.is_neg() or source.is_conj() or source.is_neg() or to.device.type not in ("cuda", "cpu"):
        return False, "a copy of another kind"
    if to.is_cuda:
        piece = source.to(to.dtype).expand(to.size()).contiguous()
        to.copy_(piece if to.is_contiguous() else torch.empty(to.size(), dtype=to.dtype, device=to.device).copy_(piece))
    else:
        near = source if source.is_contiguous() else torch.empty(source.size(), dtype=source.dtype, device=source.device).copy_(source)
        to.copy_(torch.empty(source.size(), dtype=source.dtype).copy_(near))
    return True, to
