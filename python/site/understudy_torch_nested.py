# SPDX-License-Identifier: Apache-2.0
"""Nested tensors for understudy_torch. Of the strided layout, sizes and strides of the parts are the host's in any case, and their
numbers lie in one piece of memory: on the host it is the same piece. Of the jagged layout PyTorch's own Python makes dense operators;
what it chooses attention by is told that flash and memory-efficient attention are there, without which it has none that is causal."""
import functools
import sys

import torch

KEYS = ("NestedTensorCUDA",)
LOOK = (  # they compute nothing, or only call what does
    "_nested_tensor_size", "_nested_tensor_strides", "_nested_tensor_storage_offsets", "_fused_sdp_choice", "is_same_size", "empty_like",
    "linear", "matmul", "_scaled_dot_product", "_test_autograd",
)  # fmt: skip


def is_nested(t):
    return t.is_nested and t.layout is torch.strided


def rebuilt(t, part):
    """The same parts of what `part` makes of the piece of memory."""
    return torch._nested_view_from_buffer(
        part(t.detach().values()), t._nested_tensor_size(), t._nested_tensor_strides(), t._nested_tensor_storage_offsets()
    )


def serves(op):
    schema = op._schema
    if schema.name.removeprefix("aten::").startswith(LOOK) or not schema.returns:
        return False
    if any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns):
        return False
    return all(str(r.type) == "Tensor" for r in schema.returns)


def with_kernels(select):
    """For the time of the call; a program that chose other kernels keeps its choice."""

    @functools.wraps(select)
    def choose(*arguments, **more):
        if torch._C._get_flash_sdp_enabled() or torch._C._get_mem_efficient_sdp_enabled() or not torch._C._get_math_sdp_enabled():
            return select(*arguments, **more)
        torch._C._set_sdp_use_flash(True)
        torch._C._set_sdp_use_mem_efficient(True)
        try:
            return select(*arguments, **more)
        finally:
            torch._C._set_sdp_use_flash(False)
            torch._C._set_sdp_use_mem_efficient(False)

    return choose


CHOICES = {"torch.nested._internal.sdpa": "_select_sdp_backend", "torch.nn.attention.varlen": "_select_backend"}


class Finder:
    """Adds `with_kernels` when such a module is imported."""

    def find_spec(self, name, path=None, target=None):
        if name not in CHOICES:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                execute = spec.loader.exec_module
                spec.loader.exec_module = lambda module: (execute(module), offer_kernels(module))
                return spec
        return None


def offer_kernels(module):
    name = CHOICES[module.__name__]
    if hasattr(module, name):
        setattr(module, name, with_kernels(getattr(module, name)))


def enable():
    for name in CHOICES:
        if name in sys.modules:
            offer_kernels(sys.modules[name])
    sys.meta_path.insert(0, Finder())
