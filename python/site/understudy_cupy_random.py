# SPDX-License-Identifier: Apache-2.0
"""cuRAND's host generators as CuPy calls them: NumPy's Philox, seeded as the program says. The numbers are others than cuRAND's."""
import numpy as np
from understudy_cupy import ready, vector

_generators = {}  # what the program holds -> NumPy's
_next = [1]


def create(kind):
    place = _next[0]
    _next[0] += 1
    _generators[place] = np.random.Generator(np.random.Philox(key=0))
    return place


def destroy(place):
    _generators.pop(place, None)


def seed(place, value):
    _generators[place] = np.random.Generator(np.random.Philox(key=int(value) & (2**64 - 1)))


def skip(place, offset):
    """From the beginning: Philox makes four numbers at a step."""
    state = _generators[place].bit_generator
    key = state.state["state"]["key"]
    counter = [int(offset) // 4, 0, 0, 0]
    _generators[place] = np.random.Generator(np.random.Philox(key=key, counter=counter))


def filling(dtype, draw):
    def generate(place, pointer, n, *parameters):
        ready()
        vector(pointer, n, 1, dtype)[...] = draw(_generators[place], n, *parameters)

    return generate


def normal(dtype):
    def draw(generator, n, mean, deviation):
        if n % 2:
            raise ValueError("Given array size must be even.")  # as the library wants it
        return generator.standard_normal(n, dtype) * dtype(deviation) + dtype(mean)

    return draw


def of_logarithm(draw):
    return lambda *given: np.exp(draw(*given))


def version():
    from cupy_backends.cuda.api import runtime

    return runtime.runtimeGetVersion()


def plain():
    single, double = normal(np.float32), normal(np.float64)
    return {
        "createGenerator": create, "destroyGenerator": destroy, "setPseudoRandomGeneratorSeed": seed, "setGeneratorOffset": skip,
        "getVersion": version, "setStream": lambda place, stream: None, "setGeneratorOrdering": lambda place, order: None,
        "generate": filling(np.uint32, lambda g, n: g.integers(0, 2**32, n, np.uint32)),
        "generateLongLong": filling(np.uint64, lambda g, n: g.integers(0, 2**64, n, np.uint64)),
        "generateUniform": filling(np.float32, lambda g, n: 1 - g.random(n, np.float32)),  # 1 is among them, 0 is not
        "generateUniformDouble": filling(np.float64, lambda g, n: 1 - g.random(n)),
        "generateNormal": filling(np.float32, single), "generateNormalDouble": filling(np.float64, double),
        "generateLogNormal": filling(np.float32, of_logarithm(single)),
        "generateLogNormalDouble": filling(np.float64, of_logarithm(double)),
        "generatePoisson": filling(np.uint32, lambda g, n, rate: g.poisson(rate, n)),
    }  # fmt: skip
