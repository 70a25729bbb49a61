# SPDX-License-Identifier: Apache-2.0
"""PyTorch's eager operators by understudy_torch: training of an MLP, a transformer and a residual network, and what is
particular to operators of a device. Expectations are the CPU's, with the same weights and data.

UNDERSTUDY_TORCH_VIA=inductor, or `python -m understudy_torch --via inductor`, runs it through Inductor."""
import copy

import torch
import understudy_torch
from steps import finish, step
from torch import nn

torch.manual_seed(1)


def trained(model, batches, optimizer, loss, device):
    """The losses of a copy of the model, trained on the device."""
    model = copy.deepcopy(model).to(device)
    steps = optimizer(model.parameters())
    out = []
    for x, y in batches:
        value = loss(model(x.to(device)), y.to(device))
        steps.zero_grad()
        value.backward()
        steps.step()
        out.append(value.item())
    return torch.tensor(out)


def same_training(model, batches, optimizer, loss):
    cpu = trained(model, batches, optimizer, loss, "cpu")
    cuda = trained(model, batches, optimizer, loss, "cuda")
    torch.testing.assert_close(cuda, cpu, rtol=1e-4, atol=1e-5)
    assert cpu[-1] < cpu[0], cpu


@step
def mlp():
    x = torch.randn(64, 20)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 5))
    same_training(model, [(x, x[:, :5].argmax(1))] * 20, lambda p: torch.optim.AdamW(p, lr=1e-2), nn.functional.cross_entropy)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 50)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        return self.head(self.layers(self.embedding(tokens), mask=mask, is_causal=True)).transpose(1, 2)


@step
def transformer():
    tokens = torch.randint(50, (4, 17))
    batch = tokens[:, :-1], tokens[:, 1:]
    same_training(Transformer(), [batch] * 6, lambda p: torch.optim.Adam(p, lr=1e-2), nn.functional.cross_entropy)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.one = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.two = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)])
        narrower = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        self.short = narrower if stride > 1 else nn.Identity()

    def forward(self, x):
        y = self.norms[1](self.two(torch.relu(self.norms[0](self.one(x)))))
        return torch.relu(y + self.short(x))


@step
def resnet_18():
    blocks = [Residual(i, o, s) for i, o, s in ((16, 16, 1), (16, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1))]
    stem = [nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    model = nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))
    batch = torch.randn(4, 3, 64, 64), torch.arange(4)
    same_training(model, [batch] * 4, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9), nn.functional.cross_entropy)


@step
def views_share_memory():
    x = torch.zeros(4, 6, device="cuda")
    x[1:3, ::2] += 1
    x.t()[5].fill_(7)
    expected = torch.zeros(4, 6)
    expected[1:3, ::2] = 1
    expected[:, 5] = 7
    assert torch.equal(x.cpu(), expected)


@step
def types_and_strides():
    x = torch.randn(5, 7)
    d = x.cuda()
    for type_ in (torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.uint8, torch.bool, torch.complex64):
        assert torch.equal(d.to(type_).cpu(), x.to(type_)), type_
    assert torch.equal(d.t().contiguous().cpu(), x.t()) and d.to(memory_format=torch.contiguous_format).stride() == (7, 1)


@step
def results_of_other_shapes():
    out = torch.empty(0, device="cuda")
    torch.cat([torch.ones(2, device="cuda"), torch.zeros(1, device="cuda")], out=out)
    assert out.tolist() == [1, 1, 0]
    x = torch.tensor([3.0, 1.0, 2.0], device="cuda")
    values, order = x.sort()
    assert values.tolist() == [1, 2, 3] and order.tolist() == [1, 2, 0] and x.nonzero().shape == (3, 1)


@step
def random_numbers_follow_their_generator():
    torch.cuda.manual_seed(5)
    first = torch.rand(4, device="cuda")
    state = torch.cuda.get_rng_state()
    second = torch.rand(4, device="cuda")
    assert not torch.equal(first, second)
    torch.cuda.set_rng_state(state)
    assert torch.equal(torch.rand(4, device="cuda"), second)
    torch.cuda.manual_seed(5)
    assert torch.equal(torch.rand(4, device="cuda"), first)
    own = torch.Generator("cuda").manual_seed(5)
    assert torch.equal(torch.rand(4, device="cuda", generator=own), first)


@step
def devices_are_not_mixed():
    try:
        torch.ones(3, device="cuda") + torch.ones(3)
    except RuntimeError as e:
        assert "Expected all tensors to be on the same device" in str(e)
    else:
        raise AssertionError("a sum of a CUDA and a CPU tensor")


@step
def order_with_kernels():
    """What kernels wrote before is seen, and they see what operators wrote, on a stream of its own."""
    source = 'extern "C" __global__ void twice(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }'
    twice = torch.cuda._compile_kernel(source, "twice")
    with torch.cuda.stream(torch.cuda.Stream()):
        x = torch.ones(1000, device="cuda")
        for _ in range(5):
            twice(grid=(4, 1, 1), block=(256, 1, 1), args=[x, 1000])
            x += 1
        torch.cuda.current_stream().synchronize()
    assert x.cpu().unique().tolist() == [63]  # ((((1*2+1)*2+1)*2+1)*2+1)*2+1


@step
def they_are_counted():
    before = understudy_torch.counts().get("mm", 0)
    x = torch.eye(3, device="cuda")
    assert torch.equal((x @ x).cpu(), torch.eye(3)) and understudy_torch.counts()["mm"] == before + 1


def convolved(x, weight, bias, *how):
    """The result and the gradients."""
    operands = [v.detach().clone().requires_grad_() for v in (x, weight, bias)]
    y = torch.convolution(*operands, *how)
    y.backward(torch.arange(y.numel()).float().cos().reshape(y.shape).to(y.device))
    return [y.detach().cpu(), *(v.grad.cpu() for v in operands)]


@step
def convolutions_of_all_kinds():
    for x, weight, outputs, *how in (
        ((2, 4, 9, 10), (6, 2, 3, 3), 6, [2, 1], [1, 0], [1, 1], False, [0, 0], 2),
        ((2, 4, 9, 10), (6, 4, 3, 3), 6, [1, 1], [2, 2], [2, 2], False, [0, 0], 1),
        ((2, 4, 19), (6, 4, 5), 6, [2], [1], [1], False, [0], 1),
        ((2, 4, 5, 6), (4, 3, 3, 3), 6, [2, 1], [1, 0], [2, 1], True, [1, 0], 2),
    ):
        operands = torch.randn(x), torch.randn(weight), torch.randn(outputs)
        for cuda, cpu in zip(convolved(*(v.cuda() for v in operands), *how), convolved(*operands, *how)):
            torch.testing.assert_close(cuda, cpu, rtol=1e-4, atol=1e-4)


@step
def numbers_keep_the_type():
    for type_ in (torch.float16, torch.float32, torch.float64, torch.int32, torch.bool):
        x = (torch.arange(6).reshape(2, 3) % 2).to(type_)
        d = x.cuda()
        for f in (lambda v: v * 2.5, lambda v: v + 3, lambda v: v[0, 1] * 0.1, lambda v: v.add(v, alpha=1) == 2, lambda v: v.clone().fill_(1)):
            torch.testing.assert_close(f(d).cpu(), f(x))


@step
def operands_that_share_memory():
    x = torch.arange(16.0).reshape(4, 4)
    d = x.cuda()
    assert torch.equal(d.add_(d.t().clone()).cpu(), x + x.t())
    assert torch.equal(d[1:].mul_(2).cpu(), (x + x.t())[1:] * 2) and torch.equal(d[0].cpu(), (x + x.t())[0])
    odd = torch.arange(9.0).cuda()[1:]  # not aligned to 16 bytes
    assert torch.equal((odd + odd).cpu(), torch.arange(1.0, 9) * 2)


@step
def ways_are_counted():
    ways = understudy_torch.ways()
    total = sum(ways.values())
    assert total == sum(understudy_torch.counts().values())
    if understudy_torch.way() == "inductor":
        assert ways["inductor"] > 0.9 * total, ways
    else:
        assert ways["inductor"] == 0, ways
    print(f"{ways['inductor']} of {total} calls of operators through Inductor")


finish()
