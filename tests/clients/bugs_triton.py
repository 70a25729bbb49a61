# SPDX-License-Identifier: Apache-2.0
"""Triton and PyTorch: see bugs.py."""
import torch
import triton
import triton.language as tl
from bugs import case, main


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr, MASK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n if MASK else at < n + BLOCK
    a = tl.load(x + at, mask=inside)  # BUG(bounds): bounds-global
    b = tl.load(y + at, mask=inside)
    tl.store(out + at, a + b, mask=inside)  # BUG(bounds): bounds-global


@triton.jit
def count(bins, x, ATOMIC: tl.constexpr):
    v = tl.load(x + tl.program_id(0))
    if ATOMIC:
        tl.atomic_add(bins + v, 1)
    else:
        old = tl.load(bins + v)  # BUG(histogram): race-global
        tl.store(bins + v, old + 1)  # BUG(histogram): race-global


@triton.jit
def smooth(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x + at - 1, mask=(at > 0) & (at < n))
    tl.store(y + at, left, mask=at < n)  # BUG(neighbour): race-global


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr, SCOPE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.sum(tl.load(x + at, mask=at < n, other=0.0))
    tl.atomic_add(out, s, scope=SCOPE)  # BUG(scope): race-scope


@triton.jit
def clip(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)  # BUG(unwritten): uninitialised, uninitialised-load
    tl.store(y + at, 3.0, mask=v > 3)


@triton.jit
def scale(x, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * factor)  # BUG(streams): race-host


def zeros(n, type=torch.float32):
    return torch.zeros(n, dtype=type).to("cuda")


@case
def bounds(bad):
    n = 5 * (1 << 20)  # a block of the caching allocator of its own
    x = zeros(n)
    add[(triton.cdiv(n, 1024) + 1,)](x, x, torch.empty(n + 4096, device="cuda"), n, BLOCK=1024, MASK=not bad)
    torch.cuda.synchronize()


@case
def histogram(bad):
    x = (torch.arange(64, dtype=torch.int32) % 2).to("cuda")
    count[(64,)](zeros(2, torch.int32), x, ATOMIC=not bad)
    torch.cuda.synchronize()


@case
def neighbour(bad):
    x = zeros(1024)
    smooth[(4,)](x, x if bad else zeros(1024), 1024, BLOCK=256)
    torch.cuda.synchronize()


@case
def scope(bad):
    total[(4,)](zeros(1024), zeros(1), 1024, BLOCK=256, SCOPE="cta" if bad else "gpu")
    torch.cuda.synchronize()


@case
def unwritten(bad):
    x = torch.empty(256, device="cuda") if bad else zeros(256)
    clip[(1,)](x, zeros(256), BLOCK=256)
    torch.cuda.synchronize()


@case
def streams(bad):
    x = zeros(1024)
    torch.cuda.synchronize()
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(a):
        scale[(4,)](x, 2.0, BLOCK=256)
    if not bad:
        b.wait_stream(a)
    with torch.cuda.stream(b):
        scale[(4,)](x, 3.0, BLOCK=256)
    torch.cuda.synchronize()


@case
def early_read(bad):
    """The host's buffer goes on to another stream before the copy into it is over."""
    host = torch.zeros(4096).pin_memory()
    x, y = zeros(4096), zeros(4096)
    torch.cuda.synchronize()
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(a):
        host.copy_(x, non_blocking=True)  # BUG(early_read): race-host
    if not bad:
        a.synchronize()
    with torch.cuda.stream(b):
        y.copy_(host, non_blocking=True)  # BUG(early_read): race-host
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
