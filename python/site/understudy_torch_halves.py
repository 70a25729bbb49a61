# SPDX-License-Identifier: Apache-2.0
"""Numbers in 16 bits as CUDA's kernels compute them, where the CPU's round after each step: sums are kept in 32 bits and rounded once
(gradients of a layer norm's weights, of embeddings and of what an index picked more than once; products of a whole dimension; losses),
and products may leave their result in 32 bits (`out_dtype`)."""
import torch

HALVES = (torch.float16, torch.bfloat16)
aten = torch.ops.aten


def is_half(v):
    return isinstance(v, torch.Tensor) and v.dtype in HALVES


def wider(v):
    if isinstance(v, (list, tuple)):
        return type(v)(wider(t) for t in v)
    return v.float() if is_half(v) else v


def in_32_bits(op, *models):
    """The operator on wider numbers; each result gets the type of an argument: the first of these names that was given."""
    names = [a.name for a in op._schema.arguments]

    def compute(*operands, **more):
        given = dict(zip(names, operands)) | more
        if not any(is_half(v) for v in given.values()):
            return op(**given)
        results = op(**{name: wider(v) for name, v in given.items()})

        def narrow(result, model):
            like = next((given[n] for n in model.split() if given.get(n) is not None), None)
            return result if result is None or like is None else result.to(like.dtype)

        if isinstance(results, torch.Tensor):
            return narrow(results, models[0])
        return tuple(narrow(r, m) for r, m in zip(results, models))

    return compute


def prod(self, dim=None, keepdim=False, dtype=None):
    """Of all elements, or along a dimension."""
    wanted = self.dtype if dtype is None else dtype
    if is_half(self) and wanted in HALVES:
        return prod(self.float(), dim, keepdim).to(wanted)
    return aten.prod(self, dtype=dtype) if dim is None else aten.prod.dim_int(self, dim, keepdim, dtype=dtype)


def prod_of_all(self, dtype=None):
    return prod(self, dtype=dtype)


def put_(op):
    """Sums of what comes to one place are rounded once."""

    def compute(self, indices, values, accumulate=False, *rest, **more):
        if not (accumulate and is_half(self)):
            return op(self, indices, values, accumulate, *rest, **more)
        wide = self.float()
        op(wide, indices, values.float(), True, *rest, **more)
        return self.copy_(wide)

    return compute


def nansum(self, dim=None, keepdim=False, dtype=None, out=None):
    """Of complex numbers, too: one is not a number if a part of it is none."""
    if not self.is_complex() and not (dtype is not None and dtype.is_complex):
        return aten.nansum(self, dim, keepdim, dtype=dtype) if out is None else aten.nansum(self, dim, keepdim, dtype=dtype, out=out)
    result = torch.where(self.isnan(), torch.zeros((), dtype=self.dtype), self).sum(dim, keepdim, dtype=dtype)
    return result if out is None else out.resize_(result.size()).copy_(result)


def multiplied(op, with_sum):
    """A product whose result has another type than its operands."""

    def compute(*operands, out_dtype=None, beta=1, alpha=1, out=None):
        if out_dtype is None:
            *operands, out_dtype = operands
        wide = [t.to(torch.promote_types(t.dtype, out_dtype)) for t in operands]
        result = op(*wide, beta=beta, alpha=alpha) if with_sum else op(*wide)
        return result.to(out_dtype) if out is None else out.resize_(result.size()).copy_(result)

    return compute


INSTEAD = {
    "aten::native_layer_norm_backward": in_32_bits(aten.native_layer_norm_backward.default, "input", "weight input", "bias weight input"),
    "aten::embedding_dense_backward": in_32_bits(aten.embedding_dense_backward.default, "grad_output"),
    "aten::_embedding_bag_backward": in_32_bits(aten._embedding_bag_backward.default, "grad"),
    "aten::_embedding_bag_dense_backward": in_32_bits(aten._embedding_bag_dense_backward.default, "grad"),
    "aten::nll_loss_forward": in_32_bits(aten.nll_loss_forward.default, "self", "self"),
    "aten::nll_loss2d_forward": in_32_bits(aten.nll_loss2d_forward.default, "self", "self"),
    "aten::grid_sampler_2d": in_32_bits(aten.grid_sampler_2d.default, "input"),
    "aten::grid_sampler_3d": in_32_bits(aten.grid_sampler_3d.default, "input"),
    "aten::grid_sampler_2d_backward": in_32_bits(aten.grid_sampler_2d_backward.default, "input", "grid"),
    "aten::grid_sampler_3d_backward": in_32_bits(aten.grid_sampler_3d_backward.default, "input", "grid"),
    "aten::prod": prod_of_all,
    "aten::prod.dim_int": prod,
    "aten::index_put_": put_(aten.index_put_.default),
    "aten::_index_put_impl_": put_(aten._index_put_impl_.default),
    "aten::nansum": nansum,
    "aten::nansum.out": nansum,
}
for _name, _with_sum in (("mm", False), ("bmm", False), ("addmm", True), ("baddbmm", True)):
    for _overload in ("dtype", "dtype_out"):
        INSTEAD[f"aten::{_name}.{_overload}"] = multiplied(getattr(aten, _name).default, _with_sum)
