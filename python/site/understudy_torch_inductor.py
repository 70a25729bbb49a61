# SPDX-License-Identifier: Apache-2.0
"""An operator's call through Inductor: which kernel it wants, and its launch.

    arguments ─▶ Taken (understudy_torch_taken): tensors, numbers as tensors of one element, everything else as it stands
       │   signature: types, sizes, strides, alignment ─▶ known already: launch
       └── class: what of them code is made for        ─▶ kernels of this class, each with the condition that it holds under
                                                          ─▶ in memory, on disk, or compiled now (understudy_torch_compile)

Operands of one shape and dense are taken as one dimension where an operator treats each element alike. Kernels run in the
current stream and the call returns before they have ended. What is refused goes to the CPU; its reason is kept as a kernel would be.
"""
import functools
import os
import threading

import torch
import understudy_torch_keys as keys
from understudy_torch_forms import POINTWISE, Refused, form_of
from understudy_torch_operator import Operator, tally
from understudy_torch_taken import Taken

FORMS_OF_ONE_CLASS = 12  # an operator called with ever new numbers (`x[i]`, i counting) is not compiled without end
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
    for name in ("keys", "forms", "taken", "inductor", "compile"):
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
