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

u64 linear(const Dim3& at, const Dim3& of) { return (u64(at.z) * of.y + at.y) * of.x + at.x; }

// Where results go must be memory of the thread. These arguments come first, or behind others of one word.
void require_results(Warp& w, u32 number, const std::array<u64, kDeviceApiWords>& words, u32 lane) {
  const std::string_view arguments = device_api_arguments(number);
  for (size_t k = arguments.find('o'); k != arguments.npos; k = arguments.find('o', k + 1))
    if (words[k]) require_generic(w, words[k], 8, lane);
}

}  // namespace

void rt_DeviceApi(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<DeviceApiArgs>(args);
  if (const u32 first = u32(std::countr_zero(mask)); a.api[first] == kDeviceApiSetConditional) {
    for (u32 l : Lanes(mask)) {
      require_generic(w, a.word[0][l], sizeof(u32), l);
      std::atomic_ref(*reinterpret_cast<u32*>(a.word[0][l])).store(u32(a.word[1][l]), std::memory_order_release);
    }
    return;
  }
  DeviceRuntime* runtime = grid_of(w).launch->runtime.get();
  if (!runtime)
    die(w, Outcome::NotSupported, "a call of the runtime API in a kernel that was launched without it", mask);
  DeviceCaller caller{.block = linear(w.cta->ctaid, w.grid->grid), .heap = &machine_of(w).heap};
  for (u32 l : Lanes(mask)) {
    std::array<u64, kDeviceApiWords> words;
    for (u32 k = 0; k < kDeviceApiWords; ++k) words[k] = a.word[k][l];
    const u32 number = u32(a.api[l]);
    require_results(w, number & ~kDeviceApiPerThread, words, l);
    caller.thread = w.warp_id * kWarpSize + l;
    caller.own_default_stream = number & kDeviceApiPerThread;
    results[l] = runtime->call(DeviceApi(number & ~kDeviceApiPerThread), caller, words);
  }
}

}  // namespace us::device
