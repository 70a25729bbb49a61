# SPDX-License-Identifier: Apache-2.0
"""A call of an operator, taken apart: its tensors, and what of them and of the rest code is made for."""
import functools
import math

import torch
import understudy_torch_keys as keys
from understudy_torch_forms import Refused

TYPES = {
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool,
    torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8,
}  # fmt: skip


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
            if self.routes.form is not None and kind > category(lead):  # written into the tensor, or refused
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
