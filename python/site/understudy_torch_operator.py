# SPDX-License-Identifier: Apache-2.0
"""One of PyTorch's operators as understudy_torch serves it: what its schema says, and which way a call goes."""
import functools
import sys

import torch
import understudy_torch_cpu as cpu
import understudy_torch_substitutes as substitutes
import understudy_torch_varlen as varlen
from understudy_torch_attention import RANDOM
from understudy_torch_cpu import tensors_in
from understudy_torch_keys import Tally

MIXED = (
    "copy_", "index", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put", "_copy_from", "_copy_from_and_resize",
    "_nested_from_padded",
)  # fmt: skip
SAID = {
    "cpu": "understudy: PyTorch's eager operators are computed by its operators for the CPU (understudy_torch; UNDERSTUDY_TORCH_VIA=off: not)",
    "inductor": "understudy: PyTorch's eager operators are compiled by Inductor, each when it is first called (understudy_torch; UNDERSTUDY_TORCH_VIA=off: not)",
}
tally = Tally()
_said = []


def device_of(name, values, device):
    """Where the operator runs. On a real device, too, all tensors but single numbers must be there."""
    for t in tensors_in(values):
        if not t.is_cuda:
            continue
        if device is not None and t.device != device and (t.dim() or name == "copy_") and name not in MIXED:
            raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {device} and {t.device}!")
        device = device or t.device
    if device is None:
        return torch.device("cuda", torch.cuda.current_device())
    for t in tensors_in(values):
        if t.device.type == "cpu" and t.dim() and name not in MIXED:
            raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {device} and cpu!")
    return device if device.index is not None else torch.device("cuda", torch.cuda.current_device())


class Operator:
    way = "cpu"
    captured = "cpu"  # the way into a graph
    host_nodes = False  # a graph has host functions of ours, which want the interpreter's lock

    def __init__(self, op):
        self.op, self.name = op, op._schema.name.removeprefix("aten::")
        self.arguments = op._schema.arguments
        self.names = [a.name for a in self.arguments]
        self.tensors = [a.name for a in self.arguments if str(a.type) in ("Tensor", "Optional[Tensor]")]
        self.outs = {a.name for a in self.arguments if a.is_out}
        self.written = []  # arguments that it changes
        writes = {}
        for a in self.arguments:
            if a.alias_info is not None and a.alias_info.is_write:
                self.written.append(a.name)
                for which in a.alias_info.before_set:
                    writes[which] = a.name
        self.returned = []  # for each result: the argument that it is, or None
        for r in op._schema.returns:
            which = next(iter(r.alias_info.before_set), None) if r.alias_info is not None else None
            self.returned.append(writes.get(which))
        self.random = "generator" in self.names or self.name in ("native_dropout", "_fused_dropout", "rrelu_with_noise_functional", *RANDOM, *varlen.RANDOM)
        self.pointwise = torch.Tag.pointwise in op.tags
        self.kernel = None  # PyTorch's for CUDA
        self.composed = None  # PyTorch's by other operators
        self.routes = None  # what understudy_torch_inductor keeps of it

    @functools.cached_property
    def on_cpu(self):
        return substitutes.on_cpu(self.op)

    def keep_kernels(self):
        if self.name in ("copy_", "zero_"):
            self.kernel = torch.library.get_kernel(self.op, "CUDA")
        elif self.name.startswith("_foreach_") and "inductor" in (self.way, self.captured):
            self.composed = torch.library.get_kernel(self.op, "CPU")  # one call of an operator for each tensor

    def __call__(self, keys, *args, **kwargs):
        given = dict(zip(self.names, args))
        given.update(kwargs)
        if self.kernel is not None and self.is_plain(given):
            # A copy would wait with the lock held.
            if self.host_nodes and self.waits(given) and not torch.cuda.is_current_stream_capturing():
                torch.cuda.current_stream(self.device_in(given)).synchronize()
            return self.kernel.call_boxed(keys, *args, **kwargs)
        device = device_of(self.name, given.values(), kwargs.get("device"))
        if not _said:
            _said.append(self.way)
            print(SAID[self.way], file=sys.stderr)
        way = self.way if self.way == self.captured or not torch.cuda.is_current_stream_capturing() else self.captured
        if way == "inductor" and self.composed is not None and not any(t.dtype.is_complex for t in tensors_in(given.values())):
            return self.composed.call_boxed(keys, *args, **kwargs)
        with torch._C._AutoDispatchBelowAutograd():
            why = None
            if way == "inductor" and any(t.is_nested for t in tensors_in(given.values())):
                why = "a nested tensor"
            elif way == "inductor":
                import understudy_torch_inductor

                done, result = understudy_torch_inductor.attempt(self, given, device)
                if done:
                    tally.add("inductor", self.name)
                    return result
                why = result
            tally.add("cpu", self.name, why)
            return cpu.compute(self, given, device)

    @staticmethod
    def device_in(given):
        return next(t.device for t in given.values() if isinstance(t, torch.Tensor) and t.is_cuda)

    @staticmethod
    def waits(given):
        return "src" in given and not (given["self"].is_cuda and given["src"].is_cuda)

    def is_plain(self, given):
        """A copy or a set of one piece of memory, which the driver does."""
        to, source = given["self"], given.get("src")
        if source is None:
            return to.is_contiguous()
        same = to.dtype == source.dtype and to.size() == source.size() and to.is_conj() == source.is_conj() and to.is_neg() == source.is_neg()
        return same and to.is_contiguous() and source.is_contiguous()
