// SPDX-License-Identifier: Apache-2.0
// Expands one table into declarations, stubs and the table itself. Included by libcuda/entry_table.cpp and
// libcudart/entry_table.cpp, after US_TABLE_FILE names the .inc file; no CUDA header may be included there (they
// #define some of these names and declare all of them with other types).
#include <atomic>

#include "cuda/api.h"
#include "cuda/entry_table.h"

namespace us::cuda {
namespace {

enum class Row : u32 {
#define US_ENTRY(name, level, note) name,
#include US_TABLE_FILE
#undef US_ENTRY
  Count
};
constexpr u32 kRows = static_cast<u32>(Row::Count);
std::atomic<u64> calls[kRows];
constexpr int kNotSupported = 801;  // the same number in CUresult and cudaError_t

}  // namespace
}  // namespace us::cuda

// Any number of arguments may be passed to such a function: the caller cleans up.
#define US_ENTRY_Full(name) extern "C" void name();
#define US_ENTRY_Partial(name) extern "C" void name();
#define US_ENTRY_Stub(name)                                                                              \
  US_API int name();                                                                                     \
  int name() {                                                                                           \
    us::cuda::calls[static_cast<unsigned>(us::cuda::Row::name)].fetch_add(1, std::memory_order_relaxed); \
    return us::cuda::US_STUB_RESULT(us::cuda::kNotSupported);                                            \
  }
#define US_ENTRY(name, level, note) US_ENTRY_##level(name)
#include US_TABLE_FILE
#undef US_ENTRY

namespace us::cuda {
namespace {

const Entry rows[kRows] = {
#define US_ENTRY(name, level, note) {#name, Level::level, note, reinterpret_cast<EntryFn>(&::name)},
#include US_TABLE_FILE
#undef US_ENTRY
};

void append_stub_calls(std::vector<StubCalls>& out) {
  for (u32 i = 0; i < kRows; ++i)
    if (const u64 n = calls[i].load(std::memory_order_relaxed)) out.push_back({rows[i].name, n});
}

}  // namespace
}  // namespace us::cuda
