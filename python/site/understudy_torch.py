# SPDX-License-Identifier: Apache-2.0
"""PyTorch's eager operators on a virtual device.

The stock wheel carries its operators (`x + 1`, `relu`, matrix products) as machine code only, which Understudy does not
run. `import understudy_torch`, `python -m understudy_torch PROGRAM` or `pytest -p understudy_torch` sends those of CUDA tensors
to PyTorch's own operators for the CPU, on the device's memory as it lies there: nothing is copied, strides and views stay. What
has PTX (Triton kernels, `torch.compile`, NVRTC) and what is no kernel (allocation, contiguous copies, streams) is left alone.

    x + y ─▶ dispatcher, key CUDA ─▶ computed(): waits for the current stream ─▶ the same operator, key CPU,
                                                 on CPU tensors with the same storage ─▶ result as a CUDA tensor

An operator is done when the call returns: one order of the many that streams allow. Results are the CPU's: sums may be
rounded elsewhere. What the CPU lacks raises NotImplementedError by its name, as does a capture into a graph.
"""
import ctypes
import os
import sys
import warnings

import torch

# They launch no kernel, or choose what to do and leave the work to others.
UNTOUCHED = (
    "empty", "new_empty", "set_", "resize", "_resize_output_", "view", "as_strided", "_reshape_alias", "unfold", "record_stream",
    "_local_scalar_dense", "_efficientzerotensor", "is_pinned", "pin_memory", "_pin_memory", "is_set_to", "_fused_sdp_choice",
    "_nested", "_use_cudnn", "_use_miopen", "cudnn", "miopen", "_cudnn", "lift", "_cslt", "_sparse_semi", "sym_",
    "_to_sparse_semi", "quantize", "dequantize", "q_",
)  # fmt: skip
# Composite, but what they do themselves would end at a kernel.
WHOLE = ("convolution", "convolution_backward", "convolution_overrideable", "copy_")
MIXED = ("copy_", "index", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put", "_copy_from", "_copy_from_and_resize")
_libraries = []
_counts = {}


def on_host(t):
    """A CPU tensor with the storage, shape and strides of a CUDA tensor."""
    storage = t.untyped_storage()
    bytes_ = storage.nbytes()
    if bytes_ == 0 or t.numel() == 0:
        return torch.empty_strided(t.size(), t.stride(), dtype=t.dtype)
    memory = torch.frombuffer((ctypes.c_ubyte * bytes_).from_address(storage.data_ptr()), dtype=torch.uint8)
    alias = torch.empty(0, dtype=t.dtype).set_(memory.untyped_storage(), t.storage_offset(), t.size(), t.stride())
    alias = torch._conj(alias) if t.is_conj() else alias
    return torch._neg_view(alias) if t.is_neg() else alias


def on_device(t, device):
    out = torch.empty_strided(t.size(), t.stride(), dtype=t.dtype, device=device)
    if t.numel():
        on_host(out).copy_(t)
    return out


def tensors_in(values):
    for v in values:
        if isinstance(v, torch.Tensor):
            yield v
        elif isinstance(v, (list, tuple)):
            yield from tensors_in(v)


def changed(value, change):
    if isinstance(value, (list, tuple)):
        return type(value)(changed(v, change) for v in value)
    return change(value)


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


def host_generator(generator, device):
    """A CPU generator that continues the device's: seed and offset of that decide what it gives, and the offset moves on."""
    own = generator if generator is not None else torch.cuda.default_generators[device.index]
    seed, offset = own.initial_seed(), own.get_offset()
    own.set_offset(offset + 4)
    return torch.Generator().manual_seed((seed * 0x9E3779B97F4A7C15 + offset) & 0x7FFFFFFFFFFFFFFF)


class Operator:
    def __init__(self, op):
        self.op, self.name = op, op._schema.name.removeprefix("aten::")
        self.arguments = op._schema.arguments
        self.names = [a.name for a in self.arguments]
        self.tensors = [a.name for a in self.arguments if str(a.type) == "Tensor"]
        self.outs = {a.name for a in self.arguments if a.is_out}
        writes = {}
        for a in self.arguments:
            if a.alias_info is not None and a.alias_info.is_write:
                for which in a.alias_info.before_set:
                    writes[which] = a.name
        self.returned = []  # for each result: the argument that it is, or None
        for r in op._schema.returns:
            which = next(iter(r.alias_info.before_set), None) if r.alias_info is not None else None
            self.returned.append(writes.get(which))
        self.random = "generator" in self.names
        self.kernel = None  # PyTorch's for CUDA

    def values(self, args, kwargs):
        given = dict(zip(self.names, args))
        given.update(kwargs)
        return given

    def __call__(self, keys, *args, **kwargs):
        given = self.values(args, kwargs)
        if self.kernel is not None and self.is_plain(given):
            return self.kernel.call_boxed(keys, *args, **kwargs)
        device = device_of(self.name, given.values(), kwargs.get("device"))
        if torch.cuda.is_current_stream_capturing():
            raise NotImplementedError(f"understudy_torch: {self.op} cannot be captured into a graph")
        torch.cuda.current_stream(device).synchronize()
        _counts[self.name] = _counts.get(self.name, 0) + 1
        if len(_counts) == 1 and _counts[self.name] == 1:
            print("understudy: PyTorch's eager operators are computed by its operators for the CPU (understudy_torch)", file=sys.stderr)
        with torch._C._AutoDispatchBelowAutograd():
            return self.compute(given, device)

    def is_plain(self, given):
        """A copy or a set of one piece of memory, which the driver does."""
        to, source = given["self"], given.get("src")
        if source is None:
            return to.is_contiguous()
        same = to.dtype == source.dtype and to.size() == source.size() and to.is_conj() == source.is_conj() and to.is_neg() == source.is_neg()
        return same and to.is_contiguous() and source.is_contiguous()

    def compute(self, given, device):
        fresh, host = {}, {}
        for name, value in given.items():
            if name in self.outs:  # a result may need another shape, and may be an operand
                fresh[name] = host[name] = changed(value, lambda t: torch.empty(0, dtype=t.dtype))
            elif isinstance(value, torch.device):
                host[name] = torch.device("cpu")
            else:
                host[name] = changed(value, lambda v: on_host(v) if isinstance(v, torch.Tensor) and v.is_cuda else v)
        if "device" in self.names:
            host["device"] = torch.device("cpu")
        if host.get("pin_memory"):
            host["pin_memory"] = False
        if self.random:
            host["generator"] = host_generator(given.get("generator"), device)
        if host.get("half_to_float"):
            host["self"], host["half_to_float"] = host["self"].float(), False
        words = [a.name for a in self.arguments if not a.kwarg_only and a.name in host]
        # A number in a tensor's place is no tensor to Python; another overload takes it.
        number = any(isinstance(host.get(w), (bool, int, float, complex)) for w in self.tensors)
        result = (self.op.overloadpacket if number else self.op)(*(host[w] for w in words), **{w: v for w, v in host.items() if w not in words})
        for name, value in fresh.items():
            self.put(given[name], value)
        if not self.returned:
            return None
        if len(self.returned) == 1:
            return self.result(result, self.returned[0], given, device)
        return tuple(self.result(r, n, given, device) for r, n in zip(result, self.returned))

    def put(self, to, value):
        for t, v in zip(tensors_in([to]), tensors_in([value])):
            if t.size() != v.size():
                t.resize_(v.size())
            if t.numel():
                on_host(t).copy_(v)

    def result(self, r, name, given, device):
        if name is not None:
            return given[name]
        return changed(r, lambda v: on_device(v, device) if isinstance(v, torch.Tensor) else v)


def operator(name):
    base, _, overload = name.removeprefix("aten::").partition(".")
    packet = getattr(torch.ops.aten, base, None)
    return getattr(packet, overload or "default", None) if packet is not None else None


def taken():
    names = {n for n in torch._C._dispatch_get_registrations_for_dispatch_key("CUDA") if n.startswith("aten::")}
    for name in sorted(names | {"aten::" + n for n in WHOLE}):
        base = name.removeprefix("aten::")
        if base.startswith(UNTOUCHED) and not base.startswith(("empty_like", "view_copy", "as_strided_copy", "as_strided_scatter")):
            continue
        op = operator(name)
        if op is not None and not any(r.alias_info is not None and not r.alias_info.is_write for r in op._schema.returns):
            yield name, op


def enable():
    """Once; what is imported later is served, too."""
    if _libraries:
        return
    library = torch.library.Library("aten", "IMPL")
    _libraries.append(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that kernels are overridden
        for name, op in taken():
            function = Operator(op)
            if function.name in ("copy_", "zero_"):
                function.kernel = torch.library.get_kernel(op, "CUDA")
            library.impl(name.removeprefix("aten::"), function, "CUDA", with_keyset=True, allow_override=True)
    torch.backends.cudnn.enabled = False
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)


def counts():
    """Operator -> how often it was computed."""
    return dict(_counts)


if __name__ == "__main__":
    import runpy

    import understudy_torch  # noqa: F401  under its name, as programs import it

    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    runpy.run_path(sys.argv[0], run_name="__main__")
else:
    enable()
