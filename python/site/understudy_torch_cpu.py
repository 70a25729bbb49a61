# SPDX-License-Identifier: Apache-2.0
"""An operator of CUDA tensors by PyTorch's own for the CPU, on the device's memory as it lies there: nothing is copied, strides
and views stay. It waits for the current stream first, and the operator is done when the call returns."""
import ctypes

import torch
import understudy_torch_nested as nested
import understudy_torch_sparse as sparse
import understudy_torch_substitutes as substitutes


def on_host(t):
    """A CPU tensor with the storage, shape and strides of a CUDA tensor."""
    if sparse.is_sparse(t):
        return sparse.rebuilt(t, on_host)
    if nested.is_nested(t):
        return nested.rebuilt(t, on_host)
    storage = t.untyped_storage()
    bytes_ = storage.nbytes()
    if bytes_ == 0 or t.numel() == 0:
        return torch.empty_strided(t.size(), t.stride(), dtype=t.dtype)
    memory = torch.frombuffer((ctypes.c_ubyte * bytes_).from_address(storage.data_ptr()), dtype=torch.uint8)
    alias = torch.empty(0, dtype=t.dtype).set_(memory.untyped_storage(), t.storage_offset(), t.size(), t.stride())
    alias = torch._conj(alias) if t.is_conj() else alias
    return torch._neg_view(alias) if t.is_neg() else alias


def on_device(t, device, strides=None):
    if sparse.is_sparse(t):
        return sparse.rebuilt(t, lambda part: on_device(part, device))
    if nested.is_nested(t):
        return nested.rebuilt(t, lambda part: on_device(part, device))
    out = torch.empty_strided(t.size(), t.stride() if strides is None else strides, dtype=t.dtype, device=device)
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


def host_generator(generator, device):
    """A CPU generator that continues the device's: seed and offset of that decide what it gives, and the offset moves on."""
    return generator_at(*next_place(device_generator(generator, device)))


def device_generator(generator, device):
    return generator if generator is not None else torch.cuda.default_generators[device.index]


def next_place(own):
    seed, offset = own.initial_seed(), own.get_offset()
    own.set_offset(offset + 4)
    return seed, offset


def generator_at(seed, offset):
    return torch.Generator().manual_seed((seed * 0x9E3779B97F4A7C15 + offset) & 0x7FFFFFFFFFFFFFFF)


def put(to, value):
    """Results into the tensors that the caller gave for them."""
    for t, v in zip(tensors_in([to]), tensors_in([value])):
        if t.size() != v.size():
            t.resize_(v.size())
        if t.numel():
            on_host(t).copy_(v)


def call(op, words, values):
    return op(*(values[w] for w in words), **{w: v for w, v in values.items() if w not in words})


WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64, torch.bool: torch.uint8}


def widened_call(op, words, host, written):
    """Numbers in 16 bits as 32-bit ones, truth values as numbers, and the results as they would have been."""
    inputs = {t.dtype for t in tensors_in(host.values())}
    if not inputs & set(WIDER):
        raise
    back = {wide: t for t, wide in WIDER.items() if t in inputs and wide not in inputs}
    if torch.float16 in inputs or torch.complex32 in inputs:  # parts of complex numbers, and what is made of parts
        back |= {torch.float32: torch.float16, torch.complex64: torch.complex32}

    def other(value, types):
        return changed(value, lambda t: t.to(types[t.dtype]) if isinstance(t, torch.Tensor) and t.dtype in types else t)

    wide = {name: other(value, WIDER) for name, value in host.items()}
    result = call(op, words, wide)
    for to, t in zip(tensors_in([host[n] for n in written]), tensors_in([wide[n] for n in written])):
        if to is not t:
            to.resize_(t.size()).copy_(t)
    return other(result, back)


def host_operands(operator, given):
    """The operands as the CPU's operator takes them, and of those the results that get memory of their own first."""
    fresh, host = {}, {}
    for name, value in given.items():
        if name in operator.outs:  # a result may need another shape, and may be an operand
            fresh[name] = host[name] = changed(value, lambda t: torch.empty(0, dtype=t.dtype))
        elif isinstance(value, torch.device):
            host[name] = torch.device("cpu")
        else:
            host[name] = changed(value, lambda v: on_host(v) if isinstance(v, torch.Tensor) and v.is_cuda else v)
    if "device" in operator.names:
        host["device"] = torch.device("cpu")
    if host.get("pin_memory"):
        host["pin_memory"] = False
    if host.get("half_to_float"):
        host["self"], host["half_to_float"] = host["self"].float(), False
    return host, fresh


def words_of(operator, values):
    """Given by place; behind an argument that is missing, by name."""
    words = []
    for a in operator.arguments:
        if a.kwarg_only or a.name not in values:
            break
        words.append(a.name)
    return words


def perform(operator, host, generator):
    unnamed = None  # what a random operator that takes no generator is to continue
    if generator is not None and "generator" in operator.names:
        host["generator"] = generator
    elif generator is not None:
        unnamed = generator.initial_seed()
    words = words_of(operator, host)
    # A number in a tensor's place is no tensor to Python; another overload takes it.
    number = any(isinstance(host.get(w), (bool, int, float, complex)) for w in operator.tensors)
    op = operator.op.overloadpacket if number else operator.on_cpu
    with torch.random.fork_rng(devices=(), enabled=unnamed is not None):
        if unnamed is not None:
            torch.default_generator.manual_seed(unnamed)
        try:
            return call(op, words, host)
        except NotImplementedError:  # often of the type of numbers only
            return widened_call(op, words, host, operator.written)


def compute(operator, given, device):
    if torch.cuda.is_current_stream_capturing():
        import understudy_torch_captured

        return understudy_torch_captured.record(operator, given, device)
    torch.cuda.current_stream(device).synchronize()
    host, fresh = host_operands(operator, given)
    result = perform(operator, host, host_generator(given.get("generator"), device) if operator.random else None)
    for name, value in fresh.items():
        put(given[name], value)
    for name in operator.written:  # the host's has other parts by now
        if isinstance(given.get(name), torch.Tensor) and sparse.is_sparse(given[name]):
            given[name].copy_(on_device(host[name], device))

    strides = iter(substitutes.strides_on_device(operator, given))

    def of(r, name):
        if name is not None:
            return given[name]
        return changed(r, lambda v: on_device(v, device, next(strides, None)) if isinstance(v, torch.Tensor) else v)

    if not operator.returned:
        return None
    if len(operator.returned) == 1:
        return of(result, operator.returned[0])
    return tuple(of(r, n) for r, n in zip(result, operator.returned))
