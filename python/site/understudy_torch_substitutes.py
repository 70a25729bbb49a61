# SPDX-License-Identifier: Apache-2.0
"""Operators that PyTorch has for CUDA only, by those that it has for the CPU: cells of LSTM and GRU, which recurrent
layers come to without cuDNN, attention, and what PyTorch itself can take apart. And those whose results lie otherwise than on CUDA."""
import torch
import understudy_torch_attention as attention
import understudy_torch_halves as halves
import understudy_torch_varlen as varlen


def summed(*parts):
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total


def lstm_cell(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    i, f, g, o = summed(input_gates, hidden_gates, input_bias, hidden_bias).chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)


def lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias):
    i, f, g, o = workspace.chunk(4, 1)
    bent = cy.tanh()
    of_output = torch.zeros_like(cy) if grad_hy is None else grad_hy
    of_cell = summed(of_output * o * (1 - bent * bent), grad_cy)
    gates = torch.cat(
        [of_cell * g * i * (1 - i), of_cell * cx * f * (1 - f), of_cell * i * (1 - g * g), of_output * bent * o * (1 - o)], 1
    )
    return gates, of_cell * f, gates.sum(0) if has_bias else None


def gru_cell(input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
    ir, iz, new = summed(input_gates, input_bias).chunk(3, 1)
    hr, hz, hidden = summed(hidden_gates, hidden_bias).chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    n = (new + r * hidden).tanh()
    return n + z * (hx - n), torch.cat([r, z, n, hx, hidden], 1)


def gru_cell_backward(grad_hy, workspace, has_bias):
    r, z, n, hx, hidden = workspace.chunk(5, 1)
    of_new = grad_hy * (1 - z) * (1 - n * n)
    of_reset, of_update = of_new * hidden * r * (1 - r), grad_hy * (hx - n) * z * (1 - z)
    of_input, of_hidden = torch.cat([of_reset, of_update, of_new], 1), torch.cat([of_reset, of_update, of_new * r], 1)
    return of_input, of_hidden, grad_hy * z, of_input.sum(0) if has_bias else None, of_hidden.sum(0) if has_bias else None


def convolution(*operands):
    """On CUDA without cuDNN the result lies row by row, however the operands do; the CPU keeps channels last."""
    return torch.ops.aten.convolution(*operands).contiguous()


def convolution_backward(*operands):
    return tuple(g if g is None else g.contiguous() for g in torch.ops.aten.convolution_backward(*operands))


def softmax_backward(grad_output, output, dim, input_dtype):
    """Of halves whose softmax is in 32 bits, for which the CPU has no operator."""
    return torch.ops.aten._softmax_backward_data(grad_output, output, dim, output.dtype).to(input_dtype)


def log_softmax_backward(grad_output, output, dim, input_dtype):
    return torch.ops.aten._log_softmax_backward_data(grad_output, output, dim, output.dtype).to(input_dtype)


def histc(self, bins=100, min=0, max=0):
    """Of integers, too."""
    if self.is_floating_point():
        return torch.ops.aten.histc(self, bins, min, max)
    return torch.ops.aten.histc(self.double(), bins, min, max).to(self.dtype)


def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None, last=False, padding_idx=-1):
    """With the shapes that CUDA's results have: a bag for each index, a size for each offset, and maxima only where they are wanted."""
    operands = (weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, last, padding_idx)
    result, bags, sizes, most = torch.ops.aten._embedding_bag(*operands)
    if bags.numel() != indices.numel():
        places = torch.arange(indices.numel(), dtype=offsets.dtype)
        bags = (torch.searchsorted(offsets, places, right=True) - 1).to(indices.dtype)
    sizes = torch.cat([sizes, sizes.new_zeros(offsets.numel() - sizes.numel())])
    return result, bags, sizes, most if mode == 2 else indices.new_empty(0)


def scaled_mm(self, mat2, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    """One scale, or one for each row and column. The CPU's own product of numbers in 8 bits takes 200 times as long."""
    rows, columns = (self.size(0), 1), (1, mat2.size(1))
    one = scale_a.numel() == scale_b.numel() == 1
    if out_dtype is None or out_dtype.itemsize == 1 or not (one or (scale_a.shape == rows and scale_b.shape == columns)):
        return torch.ops.aten._scaled_mm(self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum)
    if one:
        scale_a, scale_b = scale_a.reshape(()), scale_b.reshape(())
    result = self.float() @ mat2.float() * scale_a.float() * scale_b.float()
    return (result if bias is None else result + bias).to(out_dtype)


OURS = {
    "aten::_thnn_fused_lstm_cell": lstm_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
    "aten::_thnn_fused_gru_cell": gru_cell,
    "aten::_thnn_fused_gru_cell_backward": gru_cell_backward,
    **attention.OURS,
    **varlen.OURS,
}
INSTEAD = {
    "aten::convolution": convolution,
    "aten::convolution_backward": convolution_backward,
    "aten::_softmax_backward_data": softmax_backward,
    "aten::_log_softmax_backward_data": log_softmax_backward,
    "aten::histc": histc,
    "aten::_scaled_mm": scaled_mm,
    "aten::_embedding_bag": embedding_bag,
    "aten::_embedding_bag_forward_only": embedding_bag,
    **halves.INSTEAD,
}
# Their results lie as CUDA's do, which PyTorch's own description of them says; compiled code asserts it.
LAID_OUT = ("_fft_r2c", "_linalg_svd", "linalg_eig", "max_unpool2d", "max_unpool3d")


def strides_on_device(operator, given):
    """Of the results, in order, where the CPU's are others; none for other operators."""
    if operator.name not in LAID_OUT or operator.outs:
        return ()
    meta = {n: v.new_empty_strided(v.size(), v.stride(), device="meta") if isinstance(v, torch.Tensor) else v for n, v in given.items()}
    results = operator.op(**meta)
    return [r.stride() for r in ((results,) if isinstance(results, torch.Tensor) else results)]


def on_cpu(op):
    """What computes the operator on the CPU: itself, where PyTorch has a kernel there."""
    name = op._schema.name + (f".{op._schema.overload_name}" if op._schema.overload_name else "")
    if name in INSTEAD:
        return INSTEAD[name]
    if torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, "CPU"):
        return op
    if name in OURS:
        return OURS[name]
    from torch._decomp import decomposition_table

    return decomposition_table.get(op, op)
