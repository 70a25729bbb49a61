// SPDX-License-Identifier: Apache-2.0
// libcudart.so.13's functions, for the functions here that convert arguments and for those that need no conversion.
#pragma once
#include <cuda_runtime_api.h>

#include "cuda/entry_table.h"

namespace us::cuda12 {

enum class Row : u32 {
#define US_ENTRY(name, level, note) name,
#include "cuda/libcudart/entry_points.inc"
#undef US_ENTRY
  Count
};

cuda::EntryFn runtime13(Row);

// What a function of this library is called by before it is exported under its CUDA name.
#define US_API12 extern "C" __attribute__((visibility("hidden")))

// Calls the function of CUDA 13: US_CALL13(cudaMemAdvise)(pointer, bytes, advice, location)
#define US_CALL13(name) (reinterpret_cast<decltype(&::name)>(us::cuda12::runtime13(us::cuda12::Row::name)))
// The variant whose default stream is the per-thread one has the same type and no declaration.
#define US_CALL13_PTSZ(name) (reinterpret_cast<decltype(&::name)>(us::cuda12::runtime13(us::cuda12::Row::name##_ptsz)))

}  // namespace us::cuda12
