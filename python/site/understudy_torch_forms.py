# SPDX-License-Identifier: Apache-2.0
"""Operators that understudy_torch gives to Inductor in other words: so that a number that differs in each call (a step of Adam)
is an operand of one kernel, and so that each part of a convolution is a matrix product or a convolution that Inductor has a
template for. Each form takes the operator's arguments by name, and leaves writing into `self` to its caller."""
import torch
from torch.nn.functional import pad

aten = torch.ops.aten


class Refused(Exception):
    """Why Inductor's way is not gone."""


def on_device(t):
    """What is computed of a number alone would be a kernel for the CPU."""
    if not t.is_cuda:
        raise Refused("an operand that is one number of the CPU's, twice")
    return t


def add(self, other, alpha=None):
    return aten.add(self, other if alpha is None else on_device(other) * alpha)


def sub(self, other, alpha=None):
    return aten.sub(self, other if alpha is None else on_device(other) * alpha)


def addcmul(self, tensor1, tensor2, value=None):
    both = tensor1 * on_device(tensor2)
    return self + (both if value is None else value * both)


def addcdiv(self, tensor1, tensor2, value=None):
    both = tensor1 / on_device(tensor2)
    return self + (both if value is None else value * both)


def lerp(self, end, weight):
    """For weights below 0.5: PyTorch computes the others from the other end."""
    return self + weight * (on_device(end) - self)


def fill(self, value):
    return torch.where(torch.ones_like(self, dtype=torch.bool), value, torch.zeros_like(self))


def masked_fill(self, mask, value):
    return torch.where(mask, value, self)


def copy(self, src, non_blocking=False):
    return src


def one_each(values, n):
    return list(values) * n if len(values) == 1 else list(values)


def windows(x, kernel, stride, dilation, out):
    """(N, C, out..., kernel...): a view of what each element of the result sees."""
    first = x.dim() - len(kernel)
    for d, (k, s, l, o) in enumerate(zip(kernel, stride, dilation, out)):
        x = x.unfold(first + d, (k - 1) * l + 1, s).narrow(first + d, 0, o)
        x = x[..., ::l] if l > 1 else x
    return x


def around(values):
    """As `pad` wants it: of the last dimension first."""
    return [v for v in reversed(values) for _ in range(2)]


def by_products(x, weight, stride, padding, dilation, groups):
    """A convolution as a matrix product over what each element sees."""
    n, kernel, outputs = weight.dim() - 2, list(weight.size()[2:]), weight.size(0)
    x = pad(x, around(padding)) if any(padding) else x
    out = [(i - d * (k - 1) - 1) // s + 1 for i, k, s, d in zip(x.size()[2:], kernel, stride, dilation)]
    seen = windows(x, kernel, stride, dilation, out)
    seen = seen.reshape(x.size(0), groups, x.size(1) // groups, *out, *kernel)
    order = [1, 0, *range(3, 3 + n), 2, *range(3 + n, 3 + 2 * n)]
    positions, depth = x.size(0), weight.size(1)
    for o, k in zip(out, kernel):
        positions, depth = positions * o, depth * k
    seen = seen.permute(order).reshape(groups, positions, depth)
    matrix = weight.reshape(groups, outputs // groups, depth).transpose(1, 2)
    result = torch.bmm(seen, matrix) if groups > 1 else torch.mm(seen[0], matrix[0])[None]
    return result.reshape(groups, x.size(0), *out, outputs // groups).movedim(-1, 2).transpose(0, 1).reshape(x.size(0), outputs, *out)


def spread(x, stride):
    """Zeros between the elements."""
    for d, s in enumerate(stride, start=2):
        if s > 1:
            size = list(x.size())
            x = pad(x.unsqueeze(d + 1), [0] * (2 * (x.dim() - d - 1)) + [0, s - 1])
            x = x.reshape(*size[:d], size[d] * s, *size[d + 1 :]).narrow(d, 0, (size[d] - 1) * s + 1)
    return x


def transposed_weight(weight, groups):
    """Of the convolution backwards: turned round, inputs and outputs of each group exchanged."""
    outputs, inputs = weight.size(0), weight.size(1)
    turned = weight.flip(list(range(2, weight.dim())))
    turned = turned.reshape(groups, outputs // groups, inputs, *weight.size()[2:]).transpose(1, 2)
    return turned.reshape(groups * inputs, outputs // groups, *weight.size()[2:])


def forward(x, weight, stride, padding, dilation, groups):
    """For kernels of one element Inductor would time a template against an operator."""
    if all(d == 1 for d in dilation) and weight.dim() == 4 and any(k != 1 for k in weight.size()[2:]):
        return aten.convolution(x, weight, None, stride, padding, dilation, False, [0] * len(stride), groups)
    return by_products(x, weight, stride, padding, dilation, groups)


def backward_input(grad, weight, size, stride, padding, dilation, groups):
    """The input's gradient, of this size, from the result's; and what a transposed convolution computes."""
    spaced, sides = spread(grad, stride), []
    for d in range(weight.dim() - 2):
        reach = dilation[d] * (weight.size(d + 2) - 1)
        before = reach - padding[d]
        sides.append((before, size[d] + reach - before - spaced.size(d + 2)))
    spaced = pad(spaced, [v for side in reversed(sides) for v in side])
    return forward(spaced, transposed_weight(weight, groups), [1] * len(sides), [0] * len(sides), dilation, groups)


def backward_weight(grad, x, size, stride, padding, dilation, groups):
    n, kernel, out = len(size) - 2, list(size[2:]), list(grad.size()[2:])
    x = pad(x, around(padding)) if any(padding) else x
    seen = windows(x, kernel, stride, dilation, out).reshape(x.size(0), groups, x.size(1) // groups, *out, *kernel)
    seen = seen.permute([1, 0, *range(3, 3 + n), 2, *range(3 + n, 3 + 2 * n)])
    positions, depth = x.size(0), size[1]
    for o, k in zip(out, kernel):
        positions, depth = positions * o, depth * k
    seen = seen.reshape(groups, positions, depth)
    given = grad.reshape(grad.size(0), groups, size[0] // groups, *out).transpose(0, 1).transpose(1, 2).reshape(groups, size[0] // groups, positions)
    return (torch.bmm(given, seen) if groups > 1 else torch.mm(given[0], seen[0])).reshape(size)


def in_rows(t):
    """As the results of convolutions lie on CUDA without cuDNN."""
    return None if t is None else t.contiguous()


def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    n = weight.dim() - 2
    if input.dim() == n + 1:
        return convolution(input[None], weight, bias, stride, padding, dilation, transposed, output_padding, groups)[0]
    stride, padding, dilation, output_padding = (one_each(v, n) for v in (stride, padding, dilation, output_padding))
    if transposed:
        sizes = zip(input.size()[2:], stride, padding, dilation, weight.size()[2:], output_padding)
        size = [(i - 1) * s - 2 * p + d * (k - 1) + o + 1 for i, s, p, d, k, o in sizes]
        result = backward_input(input, weight, size, stride, padding, dilation, groups)
    else:
        result = forward(input, weight, stride, padding, dilation, groups)
    return in_rows(result if bias is None else result + bias.reshape(-1, *[1] * n))


def convolution_backward(
    grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask
):
    n = weight.dim() - 2
    stride, padding, dilation = (one_each(v, n) for v in (stride, padding, dilation))
    to_input = to_weight = to_bias = None
    if output_mask[0]:
        if transposed:
            to_input = forward(grad_output, weight, stride, padding, dilation, groups)
        else:
            to_input = backward_input(grad_output, weight, input.size()[2:], stride, padding, dilation, groups)
    if output_mask[1]:
        operands = (input, grad_output) if transposed else (grad_output, input)
        to_weight = backward_weight(*operands, list(weight.size()), stride, padding, dilation, groups)
    if output_mask[2]:
        to_bias = grad_output.sum([0, *range(2, n + 2)])
    return in_rows(to_input), in_rows(to_weight), to_bias


def small(value):
    return abs(value) < 0.5


# Operator -> its form, the numbers that are operands, and which values of them may be. For a number that is 1 where
# that is what it is when not told, the form is told nothing.
FORMS = {
    "add.Tensor": (add, ("alpha",), None),
    "sub.Tensor": (sub, ("alpha",), None),
    "addcmul": (addcmul, ("value",), None),
    "addcdiv": (addcdiv, ("value",), None),
    "lerp.Scalar": (lerp, ("weight",), small),
    "fill.Scalar": (fill, ("value",), None),
    "masked_fill.Scalar": (masked_fill, ("value",), None),
    "copy": (copy, (), None),
    "convolution": (convolution, (), None),
    "convolution_overrideable": (convolution, (), None),
    "convolution_backward": (convolution_backward, (), None),
}
POINTWISE = ("add", "sub", "addcmul", "addcdiv", "lerp", "fill", "zero", "masked_fill", "copy")


def form_of(op, in_place):
    """(form, numbers, predicate) of an operator, by the name of its functional variant."""
    base = op._schema.name.removeprefix("aten::")
    base = base.removesuffix("_") if in_place else base
    overload = op._schema.overload_name
    return FORMS.get(f"{base}.{overload}" if overload else base, (None, (), None))
