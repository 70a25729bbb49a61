// SPDX-License-Identifier: Apache-2.0
// The entry-point tables as data: name, level of support and address of every symbol that the two libraries export.
#pragma once
#include <span>
#include <string_view>

#include "base/types.h"

namespace us::cuda {

enum class Level : u8 { Full, Partial, Stub };
using EntryFn = void (*)();

struct Entry {
  const char* name;
  Level level;
  const char* note;  // Partial: what is missing
  EntryFn implementation;
};

std::span<const Entry> driver_entries();   // libcuda.so.1, sorted by name
std::span<const Entry> runtime_entries();  // libcudart.so.13, sorted by name
const Entry* find_entry(std::span<const Entry>, std::string_view name);
EntryFn exported_driver_function(const Entry&);  // what the program links with

// How often each stub was called in this process.
struct StubCalls {
  const char* name;
  u64 calls;
};
std::vector<StubCalls> stub_calls();  // only those called at least once

// The key under which libcuda's cuGetExportTable gives libcudart its functions:
// `const EntryFn[runtime_entries().size()]`, and behind them an offset (calling_runtime.h).
inline constexpr unsigned char kRuntimeTableId[16] = {'u', 'n', 'd', 'e', 'r', 's', 't', 'u',
                                                      'd', 'y', '-', 'r', 't', '-', '1', '3'};
const EntryFn* runtime_functions();

}  // namespace us::cuda
