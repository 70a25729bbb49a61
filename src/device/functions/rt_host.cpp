// SPDX-License-Identifier: Apache-2.0
// The built-in device functions: printf, assert, malloc, free.
// None of them touches guest memory while it holds a lock: a fault there leaves the function for good.
#include <fmt/format.h>

#include "device/access/limits.h"
#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "device/schedule/machine.h"

namespace us::device {

void rt_Vprintf(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<VprintfArgs>(args);
  std::string& text = worker_of(w).scratch;
  for (u32 l : Lanes(mask)) {
    text.clear();
    if (a.format[l]) require_generic(w, a.format[l], 1, l);
    if (a.arguments[l]) require_generic(w, a.arguments[l], 1, l);
    auto may_read = [&w, l](const char* string) { require_generic(w, std::bit_cast<u64>(string), 1, l); };
    int n = format_printf(text, reinterpret_cast<const char*>(a.format[l]), reinterpret_cast<const u8*>(a.arguments[l]),
                          may_read);
    // What the call occupies on hardware is not documented: a header, the format's address and the arguments.
    if (n >= 0) machine_of(w).print.add(text, 16 + 8 * u64(n));
    results[l] = u64(u32(n));
  }
}

namespace {
const char* text_at(u64 address) { return address ? reinterpret_cast<const char*>(address) : "?"; }
}  // namespace

void rt_Assert(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<AssertArgs>(args);
  std::string& text = worker_of(w).scratch;
  for (u32 l : Lanes(mask)) {
    for (const u64 string : {a.msg[l], a.file[l], a.func[l]})
      if (string) require_generic(w, string, 1, l);
    text.clear();
    fmt::format_to(std::back_inserter(text), "{}:{}: {}: block: {}, thread: {} Assertion `{}` failed.\n",
                   text_at(a.file[l]), u32(a.line[l]), text_at(a.func[l]), text_of(w.cta->ctaid),
                   text_of(thread_of(w, l)), text_at(a.msg[l]));
    machine_of(w).print_error(text);
  }
  die(w, Outcome::Assert, "a device-side assertion failed, as printed above", mask);
}

void rt_Malloc(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MallocArgs>(args);
  for (u32 l : Lanes(mask)) results[l] = machine_of(w).heap.allocate(a.bytes[l]);
}

void rt_Free(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<FreeArgs>(args);
  for (u32 l : Lanes(mask)) {
    tell_free(w, l, a.ptr[l]);
    if (!machine_of(w).heap.free(a.ptr[l]))
      die(w, Outcome::IllegalAddress,
          fmt::format("free of {:#x}, which malloc did not return or which is free already", a.ptr[l]), 1u << l,
          probe::Refused::Free);
  }
}

}  // namespace us::device
