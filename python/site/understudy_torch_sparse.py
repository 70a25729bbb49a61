# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors for understudy_torch: indices and values are dense tensors, which go between device and host as others do.
Taken are the operators that compute; what looks at a tensor or makes one of given parts is PyTorch's own."""
import torch

KEYS = ("SparseCUDA", "SparseCsrCUDA")
BY_ROWS = (torch.sparse_csr, torch.sparse_bsr)
UNTOUCHED = ("empty", "_sparse_coo_tensor", "copy_", "resize", "sparse_resize", "zero_", "zeros", "_coalesced_", "fill_", "clone", "view_")


def is_sparse(t):
    return t.layout is not torch.strided


def rebuilt(t, part):
    """A tensor of the same layout, whose parts are what `part` makes of these."""
    if t.layout is torch.sparse_coo:
        return torch.sparse_coo_tensor(part(t._indices()), part(t._values()), t.size(), is_coalesced=t.is_coalesced(), check_invariants=False)
    rows = t.layout in BY_ROWS
    compressed, plain = (t.crow_indices(), t.col_indices()) if rows else (t.ccol_indices(), t.row_indices())
    return torch.sparse_compressed_tensor(
        part(compressed), part(plain), part(t.values()), t.size(), layout=t.layout, check_invariants=False
    )


def serves(op):
    """Whether the operator returns tensors of its own, or one that it changed."""
    schema = op._schema
    if schema.name.removeprefix("aten::").startswith(UNTOUCHED) or any(a.is_out for a in schema.arguments):
        return False
    if not schema.returns or not all("Tensor" in str(r.type) for r in schema.returns):
        return False
    return not any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
