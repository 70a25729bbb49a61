# SPDX-License-Identifier: Apache-2.0
"""An operator in a CUDA graph by PyTorch's own for the CPU: a host function in the stream, which computes it at each replay.

    capture: sizes of the results from the operator on zeros, memory for them from the graph's pool, a node
    replay:  what random numbers continue is taken from the generators, one place for each node   ─▶  the node computes

A node reads and writes the memory that its operands had when it was captured, as a kernel would. It needs the interpreter's lock,
so nothing may wait for the stream and hold it: PyTorch gives it up where it waits, and `Operator` before copies to and from the host.
"""
import atexit
import collections
import ctypes
import functools
import itertools
import sys
import weakref

import torch
import understudy_torch_cpu as cpu
import understudy_torch_nested as nested
import understudy_torch_sparse as sparse
from understudy_torch_operator import Operator

NUMBERS = ("bool", "int", "float", "number", "Scalar")
nodes = {}  # number -> Node, for the function that the driver calls
failures = []
_numbers = itertools.count(1)
_open = []  # the nodes of the graph that is being captured
_over = []  # numbers of nodes whose graph is gone; one of its replays may still run


class Node:
    def __init__(self, operator, host, fresh, targets, generator):
        self.operator, self.host, self.fresh, self.targets = operator, host, fresh, targets
        self.generator = generator
        self.places = collections.deque()  # of random numbers, one for each replay that has not come here

    def place(self):
        return self.places.popleft() if self.places else cpu.next_place(self.generator)

    def compute(self):
        operator, host = self.operator, dict(self.host)
        for name in self.fresh:  # of the type that the result has
            host[name] = cpu.changed(self.fresh[name], lambda t: torch.empty(0, dtype=t.dtype))
        generator = cpu.generator_at(*self.place()) if operator.random else None
        if operator.name == "native_dropout":
            result = dropped_out(generator, **host)
        else:
            result = cpu.perform(operator, host, generator)
        for name in self.fresh:
            place_into(self.fresh[name], host[name])
        results = (result,) if len(operator.returned) == 1 else result if operator.returned else ()
        place_into(self.targets, [r for r, name in zip(results, operator.returned) if name is None])


def dropped_out(generator, input, p, train):
    """PyTorch's takes no generator, and the one for all of the CPU's operators is the program's at this time."""
    if train is False or p == 0:
        return input.clone(), torch.ones(input.shape, dtype=torch.bool)
    kept = torch.empty(input.shape, dtype=torch.bool).bernoulli_(1 - p, generator=generator)
    return input * kept * (0.0 if p == 1 else 1 / (1 - p)), kept


def place_into(targets, values):
    for to, value in zip(cpu.tensors_in([targets]), cpu.tensors_in([values]), strict=True):
        if to.size() != value.size():
            raise RuntimeError(f"a result of {tuple(value.size())} where {tuple(to.size())} was captured")
        to.copy_(value)


def run(number):
    node = nodes.get(number)
    try:
        if node is not None and not failures:
            with torch.no_grad():
                node.compute()
    except BaseException as e:
        failures.append(f"understudy_torch: {node.operator.op} failed in a graph: {type(e).__name__}: {e}")
        print(failures[-1], file=sys.stderr)


_entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(run)


def look():
    """Raises what a node has met."""
    if failures:
        raise RuntimeError(failures.pop())


def of_zeros(operator, host):
    """The results' sizes and types are those of a call outside a graph: what the CPU makes of zeros."""
    values = {n: cpu.changed(v, lambda t: torch.zeros_like(t) if isinstance(t, torch.Tensor) else t) for n, v in host.items()}
    return cpu.perform(operator, values, torch.Generator() if operator.random else None)


def without_data(operator, given):
    """The same of tensors that have nothing but sizes and types, as PyTorch says it."""

    def bare(v):
        if isinstance(v, torch.Tensor):
            return v.new_empty_strided(v.size(), v.stride(), device="meta")
        return torch.device("meta") if isinstance(v, torch.device) else None if isinstance(v, torch.Generator) else v

    values = {name: cpu.changed(v, bare) for name, v in given.items()}
    if "device" in operator.names:
        values["device"] = torch.device("meta")
    if values.get("pin_memory"):
        values["pin_memory"] = False
    number = any(isinstance(values.get(w), (bool, int, float, complex)) for w in operator.tensors)
    return cpu.call(operator.op.overloadpacket if number else operator.op, cpu.words_of(operator, values), values)


def size_depends_on_data(operator, given):
    if torch.Tag.dynamic_output_shape not in operator.op.tags or given.get("output_size") is not None:
        return False
    if operator.name in ("index", "_unsafe_index"):
        return any(t.dtype in (torch.bool, torch.uint8) for t in cpu.tensors_in([given["indices"]]))
    return True


def results_of(operator, given, host):
    if any(str(r.type) in NUMBERS for r in operator.op._schema.returns):
        raise RuntimeError(f"understudy_torch: {operator.op} cannot be captured into a graph: its result is a number that the host waits for")
    if size_depends_on_data(operator, given):
        raise RuntimeError(f"understudy_torch: {operator.op} cannot be captured into a graph: the size of its result depends on data")
    if not operator.outs and all(name is not None for name in operator.returned):
        return ()
    try:
        results = of_zeros(operator, host)
    except Exception:  # zeros may be what it refuses
        results = without_data(operator, given)
    return (results,) if len(operator.returned) == 1 else results


def record(operator, given, device):
    look()
    if any(sparse.is_sparse(t) or nested.is_nested(t) for t in cpu.tensors_in(given.values())):
        raise NotImplementedError(f"understudy_torch: {operator.op} of such tensors cannot be captured into a graph")
    kept = {n: cpu.changed(v, lambda t: t.clone() if isinstance(t, torch.Tensor) and t.device.type == "cpu" and not t.dim() else t) for n, v in given.items()}
    host, fresh = cpu.host_operands(operator, kept)
    results = []
    predicted = results_of(operator, kept, host)
    for name, r in zip(operator.returned, predicted):
        if name is not None:
            for to, shape in zip(cpu.tensors_in([given[name]]), cpu.tensors_in([r])):
                if to.size() != shape.size():
                    to.resize_(shape.size())
        results.append(cpu.changed(r, lambda t: like(t, device)) if name is None else given[name])
    results = results or [given[name] for name in operator.returned]
    targets = [cpu.changed(r, host_alias) for r, name in zip(results, operator.returned) if name is None]
    node = Node(operator, host, {n: cpu.changed(given[n], host_alias) for n in fresh}, targets, None)
    if operator.random:
        node.generator = cpu.device_generator(given.get("generator"), device)
    launch(node, device)
    return None if not results else results[0] if len(results) == 1 else tuple(results)


def like(t, device):
    return torch.empty_strided(t.size(), t.stride(), dtype=t.dtype, device=device) if isinstance(t, torch.Tensor) else t


def host_alias(t):
    return cpu.on_host(t) if isinstance(t, torch.Tensor) else t


@functools.cache
def driver():
    library = ctypes.CDLL("libcuda.so.1")
    library.cuLaunchHostFunc.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    Operator.host_nodes = True
    atexit.register(torch.cuda.synchronize)  # behind it no node could have the lock any more
    return library


def launch(node, device):
    number = next(_numbers)
    nodes[number] = node
    stream = torch.cuda.current_stream(device).cuda_stream
    error = driver().cuLaunchHostFunc(stream, _entry, number)
    if error:
        raise RuntimeError(f"understudy_torch: {node.operator.op} cannot be captured into a graph: error {error} of cuLaunchHostFunc")
    if _open:
        _open[-1].append(number)


def follow(graph):
    """Whose graph a node is, and what its random numbers continue at each replay: PyTorch's CUDAGraph tells by three methods."""
    begin, end, replay = graph.capture_begin, graph.capture_end, graph.replay

    def capture_begin(self, *arguments, **options):
        if _over:
            torch.cuda.synchronize()
            while _over:
                nodes.pop(_over.pop(), None)
        begin(self, *arguments, **options)
        _open.append([])

    def capture_end(self):
        numbers = _open.pop() if _open else []
        self._understudy_random = [nodes[n] for n in numbers if nodes[n].operator.random]
        weakref.finalize(self, _over.extend, numbers).atexit = False
        end(self)

    def again(self):
        look()
        for node in getattr(self, "_understudy_random", ()):
            node.places.append(cpu.next_place(node.generator))
        replay(self)

    graph.capture_begin, graph.capture_end, graph.replay = capture_begin, capture_end, again
