# SPDX-License-Identifier: Apache-2.0
"""Warp: see bugs.py."""
import numpy as np
import warp as wp
from bugs import case, main

wp.config.quiet = True
wp.init()


@wp.kernel
def scatter(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i // 64] = y[i // 64] + x[i]  # BUG(sums): race-global, race-lanes


@wp.kernel
def scatter_atomically(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(y, i // 64, x[i])


@wp.kernel
def smooth(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    if i > 0 and i < x.shape[0] - 1:
        y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0  # BUG(neighbour): race-global


@wp.kernel
def gather(x: wp.array(dtype=float), at: wp.array(dtype=int), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[at[i]]  # BUG(bounds): bounds-global


@wp.kernel
def clip(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] > 3.0:  # BUG(unwritten): uninitialised, uninitialised-load
        y[i] = 3.0


@wp.kernel
def add(x: wp.array(dtype=float), n: float):
    i = wp.tid()
    x[i] = x[i] + n


def numbers(n):
    return wp.array(np.arange(n, dtype=np.float32), dtype=float, device="cuda")


@case
def sums(bad):
    wp.launch(scatter if bad else scatter_atomically, dim=256, inputs=[numbers(256), wp.zeros(4, dtype=float, device="cuda")], device="cuda")
    wp.synchronize()


@case
def neighbour(bad):
    x = numbers(1024)
    wp.launch(smooth, dim=1024, inputs=[x, x if bad else wp.zeros_like(x)], device="cuda")
    wp.synchronize()


@case
def bounds(bad):
    x = numbers(256)
    at = wp.array(np.full(256, 10_000_000 if bad else 255, np.int32), dtype=int, device="cuda")
    wp.launch(gather, dim=256, inputs=[x, at, wp.zeros_like(x)], device="cuda")
    wp.synchronize()


@case
def unwritten(bad):
    x = wp.empty(256, dtype=float, device="cuda") if bad else numbers(256)
    wp.launch(clip, dim=256, inputs=[x, wp.zeros(256, dtype=float, device="cuda")], device="cuda")
    wp.synchronize()


@case
def streams(bad):
    a, b = wp.Stream("cuda"), wp.Stream("cuda")
    x = numbers(256)
    wp.synchronize()
    wp.launch(add, dim=256, inputs=[x, 1.0], stream=a)  # BUG(streams): race-host
    if not bad:
        b.wait_event(a.record_event())
    wp.launch(add, dim=256, inputs=[x, 2.0], stream=b)  # BUG(streams): race-host
    wp.synchronize()


if __name__ == "__main__":
    main()
