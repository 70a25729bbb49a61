// SPDX-License-Identifier: Apache-2.0
// Included before all else in every file of libcuda.so.1 that implements entry points: the function that a file calls
// cuInit becomes the symbol us_impl_cuInit, so that the exported cuInit can be a jump (exports.cpp). Needs a
// declaration before the definition; US_API functions that no header declares bring their own.
#pragma once
#define US_RENAME(text) _Pragma(#text)
#define US_ENTRY(name, level, note) US_RENAME(redefine_extname name us_impl_##name)
#include "cuda/libcuda/entry_points.inc"
#undef US_ENTRY
#undef US_RENAME
