// SPDX-License-Identifier: Apache-2.0
// Calls of the runtime API by threads of a kernel, one thread after the other.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <bit>

#include "device/access/limits.h"
#include "device/device_runtime.h"
#include "device/functions/rt.h"
#include "device/schedule/machine.h"

namespace us::device {
namespace {

constexpr std::string_view kPrefix = "__cudaCDP2", kGraphPrefix = "cudaGraph", kPerThread = "_ptsz";

// cudaGraphSetConditional(handle, value) needs nobody: a handle is the address of the value. Any kernel may call it.
constexpr std::string_view kSetConditional = "cudaGraphSetConditional";
constexpr u32 kSetConditionalNumber = 0xffff;

struct Row {
  std::string_view name, arguments;
  u32 result;
};
constexpr Row kRows[] = {
#define US_DEVICE_API(id, arguments, result) {#id, arguments, result},
#include "device/abi/device_api.inc"
#undef US_DEVICE_API
};

u64 linear(const Dim3& at, const Dim3& of) { return (u64(at.z) * of.y + at.y) * of.x + at.x; }

void add_words(DeviceApiForm& f, u8 argument, u32 count, u8 bytes) {
  for (u32 i = 0; i < count; ++i) f.word[f.words++] = {argument, u8(i * bytes), bytes};
}

DeviceApiForm form_of(u32 row) {
  DeviceApiForm f;
  f.number = row;
  f.result_bytes = kRows[row].result;
  u8 argument = 0;
  for (char c : kRows[row].arguments) {
    const bool three = c == 'd' || c == 'e';
    add_words(f, argument++, three ? 3 : c == 'p' ? 4 : 1, c == '4' || c == 'd' ? 4 : 8);
  }
  return f;
}

// Where results go must be memory of the thread. These arguments come first, or behind others of one word.
void require_results(Warp& w, u32 number, const std::array<u64, kDeviceApiWords>& words, u32 lane) {
  const std::string_view arguments = kRows[number].arguments;
  for (size_t k = arguments.find('o'); k != arguments.npos; k = arguments.find('o', k + 1))
    if (words[k]) require_generic(w, words[k], 8, lane);
}

}  // namespace

bool launches_grids(std::string_view name) { return name.starts_with(kPrefix); }
bool is_device_api(std::string_view name) {
  return launches_grids(name) || (name.starts_with(kGraphPrefix) && name != kSetConditional);
}

bool find_device_api(std::string_view name, DeviceApiForm& out) {
  if (name == kSetConditional) {
    out = {};
    out.number = kSetConditionalNumber;
    add_words(out, 0, 1, 8);
    add_words(out, 1, 1, 4);
    return true;
  }
  if (!is_device_api(name)) return false;
  name.remove_prefix(launches_grids(name) ? kPrefix.size() : std::string_view("cuda").size());
  const bool per_thread = name.ends_with(kPerThread);
  if (per_thread) name.remove_suffix(kPerThread.size());
  for (u32 i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].name != name) continue;
    out = form_of(i);
    if (per_thread) out.number |= kDeviceApiPerThread;
    return true;
  }
  return false;
}

void rt_DeviceApi(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  if (const u32 first = u32(std::countr_zero(mask)); args[first] == kSetConditionalNumber) {
    for (u32 l : Lanes(mask)) {
      require_generic(w, args[32 + l], sizeof(u32), l);
      std::atomic_ref(*reinterpret_cast<u32*>(args[32 + l])).store(u32(args[64 + l]), std::memory_order_release);
    }
    return;
  }
  DeviceRuntime* runtime = grid_of(w).launch->runtime.get();
  if (!runtime)
    die(w, Outcome::NotSupported, "a call of the runtime API in a kernel that was launched without it", mask);
  DeviceCaller caller{.block = linear(w.cta->ctaid, w.grid->grid), .heap = &machine_of(w).heap};
  for (u32 l : Lanes(mask)) {
    std::array<u64, kDeviceApiWords> words;
    for (u32 k = 0; k < kDeviceApiWords; ++k) words[k] = args[(k + 1) * 32 + l];
    const u32 number = u32(args[l]);
    require_results(w, number & ~kDeviceApiPerThread, words, l);
    caller.thread = w.warp_id * kWarpSize + l;
    caller.own_default_stream = number & kDeviceApiPerThread;
    results[l] = runtime->call(DeviceApi(number & ~kDeviceApiPerThread), caller, words);
  }
}

}  // namespace us::device
