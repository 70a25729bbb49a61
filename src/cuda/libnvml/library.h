// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1: NVML, as public programs see it. It answers from the presets, without a context and without
// initialising CUDA: a process that has only asked NVML may fork and use CUDA in its child.
#pragma once
#include <string_view>

#include "base/types.h"
#include "cuda/devices.h"

// NVML's names are C++'s, and a caller's `nvmlReturn_t` is an int.
#define US_NVML extern "C" __attribute__((visibility("default"))) us::nvml::Answer

namespace us::nvml {

enum Answer : int {
#define US_NVML_RESULT(code, name, text) name = code,
#include "cuda/libnvml/results.inc"
#undef US_NVML_RESULT
};

// A handle is the address of one of these.
struct Handle {
  u32 ordinal;
};

bool initialized();  // nvmlInit was called more often than nvmlShutdown
Handle* handle_of(u32 ordinal);
bool is_handle(const Handle*);

// The answer to a question whose results go to pointers, all of which must be given.
template <class... Out>
Answer check(const Out*... out) {
  if (!initialized()) return Uninitialized;
  return ((out == nullptr) || ...) ? InvalidArgument : Success;
}
template <class... Out>
Answer check_device(const Handle* device, const Out*... out) {
  if (!initialized()) return Uninitialized;
  return !is_handle(device) || ((out == nullptr) || ...) ? InvalidArgument : Success;
}

inline i64 fact(const Handle* d, driver::Attribute a) { return cuda::attribute_of(d->ordinal, a); }
inline i64 fact(const Handle* d, driver::Quantity q) { return cuda::preset_of(d->ordinal)[q]; }

// A text with its end, if there is room for it.
Answer put(std::string_view text, char* out, u32 size);

// The first word of a structure that has versions: its size and the version.
template <class T>
constexpr u32 version_of(u32 version) {
  return static_cast<u32>(sizeof(T)) | version << 24;
}

}  // namespace us::nvml
