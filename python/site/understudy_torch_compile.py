# SPDX-License-Identifier: Apache-2.0
"""One function of tensors, compiled by Inductor without its front end: traced with symbolic sizes, lowered, made code.

    function ─▶ FX graph of functional operators, decomposed ─▶ Inductor's code: Python that allocates results and launches Triton
    kernels ─▶ a module. The conditions that the code holds under come from the symbols (two sizes are equal, one divides another).

Code that would call an operator again is refused: it would come back here. Nothing is timed: a template has one configuration,
and of the configurations of a kernel the first is taken, because times on a virtual device tell nothing.
"""
import re
import threading

import torch
from understudy_torch_forms import Refused

# Tiles of products and convolutions: rows, columns, depth, stages, warps. Larger ones take longer to compile.
TILE = (32, 32, 16, 1, 2)
TEMPLATES = {"max_autotune_gemm": True, "max_autotune_gemm_backends": "TRITON", "max_autotune_conv_backends": "TRITON"}
SETTINGS = {
    **TEMPLATES,
    "compile_threads": 1,
    "size_asserts": False,
    "scalar_asserts": False,
    "alignment_asserts": False,
    "benchmark_harness": False,
    "comprehensive_padding": False,
    "implicit_fallbacks": False,
    "graph_partition": False,
    "force_disable_caches": False,
    "triton.autotune_pointwise": False,
    "triton.cudagraphs": False,
    "triton.multi_kernel": 0,
    "triton.unique_kernel_names": True,
    "triton.descriptive_names": "original_aten",
}
OPERATOR_CALLS = re.compile(r"(?<![\w.])(?:extern_kernels\.\w+|torch\.ops\.[\w.]+|aten\.\w[\w.]*)\(")
ready = threading.Event()


def prepare():
    """Once: of a kernel's configurations the first."""
    if ready.is_set():
        return
    from torch._inductor.runtime import triton_heuristics

    tune = triton_heuristics.cached_autotune

    def first_only(size_hints, configs, *arguments, **more):
        return tune(size_hints, configs[:1], *arguments, **more)

    triton_heuristics.cached_autotune = first_only
    ready.set()


def choices():
    from functools import partial

    from torch._inductor.choices import InductorChoices
    from torch._inductor.heuristics.template.triton import ConvConfig

    class OneOfEach(InductorChoices):
        def _finalize_template_configs(self, template_choices, *arguments, **more):
            for generator in template_choices.values():
                for choice in generator:
                    return [choice]
            return []

        def get_conv_configs(self, device_type="cuda"):
            return partial(self.get_config_heuristics(device_type).preprocess_mm_configs, configs=[ConvConfig(*TILE)], op_name="conv")

    return OneOfEach()


def symbolic(taken, mode):
    """Operands without data, whose sizes other than 1 are symbols. A convolution's code is made for its channels and kernel
    anyway, and those come with one image size: there only the first size, the batch, is a symbol."""
    from torch._dynamo.source import LocalSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic, StatelessSymbolicContext

    out = []
    for i, (t, sign) in enumerate(zip(taken.tensors, taken.signs)):
        if sign[1] is None:
            fresh, context = torch.empty((), dtype=sign[0]), StatelessSymbolicContext(dynamic_sizes=[])
        else:
            dtype, size, stride, aligned, _ = sign
            offset = 0 if aligned else 1
            fresh = torch.empty(0, dtype=dtype, device=t.device).set_(t.untyped_storage(), offset, size, stride)
            free = size[:1] if taken.operator.name.startswith("convolution") else size
            kinds = [DimDynamic.DYNAMIC if d < len(free) and n != 1 else DimDynamic.STATIC for d, n in enumerate(size)]
            context = StatelessSymbolicContext(dynamic_sizes=kinds)
        out.append(mode.from_tensor(fresh, source=LocalSource(f"t{i}"), symbolic_context=context))
    return out


def sizes_of(fakes):
    """The symbols as numbers that the code is given: where each stands, and what it is."""
    places, numbers, seen = [], [], set()
    for i, f in enumerate(fakes):
        for kind, values in enumerate((f.size(), f.stride())):
            for d, v in enumerate(values):
                if isinstance(v, torch.SymInt) and v.node.expr.is_symbol and v.node.expr not in seen:
                    seen.add(v.node.expr)
                    places.append((i, kind, d))
                    numbers.append(v)
    return places, numbers


def with_sizes(graph, numbers):
    """Operands for them before the others."""
    first = next(iter(graph.graph.nodes))
    with graph.graph.inserting_before(first):
        for i, number in enumerate(numbers):
            graph.graph.placeholder(f"size_{i}").meta["val"] = number
    graph.recompile()


def trace(function, fakes, mode):
    from torch._dispatch.python import enable_python_dispatcher
    from torch._inductor.decomposition import select_decomp_table
    from torch.fx.experimental.proxy_tensor import make_fx

    structure = []

    def flat(*tensors):
        structure.clear()
        out = []
        for r in function(*tensors):
            if r is None:
                structure.append(None)
            elif isinstance(r, torch.Tensor):
                structure.append(len(out))
                out.append(r)
            elif isinstance(r, (list, tuple)) and all(isinstance(v, torch.Tensor) for v in r):
                structure.append(list(range(len(out), len(out) + len(r))))
                out.extend(r)
            else:
                raise Refused(f"a result that is no tensor ({type(r).__name__})")
        return out

    with mode, enable_python_dispatcher(), torch.no_grad():
        graph = make_fx(torch.func.functionalize(flat), decomposition_table=select_decomp_table())(*fakes)
    return graph, list(structure)


def refuse_operators(graph):
    from torch._inductor import lowering
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    for node in graph.graph.nodes:
        value = node.meta.get("val")
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(v, torch.Tensor) and free_unbacked_symbols(v):
                raise Refused("a result whose size depends on data")
            if isinstance(v, torch.Tensor) and v.dtype.is_complex:
                raise Refused("complex numbers")
        target = node.target
        if node.op == "call_function" and isinstance(target, torch._ops.OpOverload):
            if torch.Tag.nondeterministic_seeded in target.tags:
                raise Refused("random numbers")
            if target in lowering.fallbacks or not (target in lowering.lowerings or target.overloadpacket in lowering.lowerings):
                raise Refused(f"Inductor has no kernel for {target}")
        elif node.op == "get_attr":
            raise Refused("a constant tensor")


def name_after(graph, operator):
    """Kernels bear the name of the operator that was called."""
    for node in graph.graph.nodes:
        if node.op == "call_function":
            node.meta["original_aten"] = operator.op


def lowered(graph, fakes, shape_env, mode):
    """(code, names of the results' buffers)"""
    from torch._inductor import config
    from torch._inductor.debug import DebugContext
    from torch._inductor.graph import GraphLowering
    from torch._inductor.virtualized import V

    output = graph.graph.find_nodes(op="output")[0]
    output.meta["original_output_strides"] = [n.meta["val"].stride() for n in output.args[0]]
    output.meta["user_visible_output_idxs"] = list(range(len(output.args[0])))
    with V.set_fake_mode(mode), torch.no_grad(), config.patch(SETTINGS), DebugContext(), V.set_choices_handler(choices()):
        lowering = GraphLowering(graph, example_inputs=fakes, shape_env=shape_env, is_inference=True, layout_opt=False)
        with V.set_graph_handler(lowering), V.set_extern_kernel_nodes([]):
            lowering.run(*fakes)
            code = lowering.codegen()[0]
            results = [o.get_name() for o in lowering.graph_outputs]
        if lowering.constants or lowering.torchbind_constants:
            raise Refused("a constant tensor")
        inputs = set(lowering.graph_input_names)
    if any(name in inputs for name in results) or len(set(results)) != len(results):
        raise Refused("a result that is an operand")
    return getattr(code, "value", code)


def condition(fakes, shape_env):
    from torch._dynamo.source import LocalSource

    pairs = [(f, LocalSource(f"t{i}")) for i, f in enumerate(fakes) if f.dim()]
    guards = shape_env.produce_guards([f for f, _ in pairs], [s for _, s in pairs], ignore_static=False)
    guards = [g for g in guards if "storage_offset" not in g]
    return " and ".join(f"({g})" for g in guards) or None


def make(function, taken, device):
    """(record for the store, function of a list of tensors)"""
    from torch._guards import TracingContext, tracing
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    shape_env = ShapeEnv()
    mode = FakeTensorMode(shape_env=shape_env)
    with tracing(TracingContext(mode)):
        fakes = symbolic(taken, mode)
        places, numbers = sizes_of(fakes)
        graph, returns = trace(function, fakes, mode)
        refuse_operators(graph)
        name_after(graph, taken.operator)
        with_sizes(graph, numbers)
        code = lowered(graph, [*numbers, *fakes], shape_env, mode)
    body = code[code.index("def call(") :] if "def call(" in code else code
    again = OPERATOR_CALLS.search(body)
    if again is not None:
        raise Refused(f"Inductor calls {again.group(0)[:-1]}")
    return {"condition": condition(fakes, shape_env), "code": code, "returns": returns, "places": places}, load(code)


def load(code):
    from torch._inductor import config
    from torch._inductor.codecache import PyCodeCache

    prepare()
    with config.patch(SETTINGS):
        module = PyCodeCache.load(code)
    return module.call
