// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "device/abi/bad_access.h"
#include "device/access/limits.h"
#include "device/functions/rt.h"
#include "device/schedule/machine.h"

namespace us::device {
namespace {

u64 address_of(const BadAccess& a, const u8* table, u64 base, u32 lane) {
  if (a.where == BadAccess::Rows) return reinterpret_cast<const u64*>(base)[lane] + a.offset;
  if (a.where > BadAccess::Rows) base += reinterpret_cast<const u64*>(table + a.where)[lane];
  return base + a.offset;
}

[[noreturn]] void report(Warp& w, const BadAccess& a, const u8* table, u64 base, u32 lanes) {
  const u64 address = address_of(a, table, base, first_lane(lanes));
  std::string line = a.text ? std::string(reinterpret_cast<const char*>(table + a.text)) : line_of_call(w);
  Refusal r = a.rule == BadAccess::Misaligned
                  ? Refusal{Outcome::MisalignedAddress,
                            fmt::format("misaligned access: {} bytes at address {:#x}, which is no multiple of {}",
                                        a.bytes, address, a.bytes),
                            probe::Refused::Alignment}
              : a.rule == BadAccess::Shared ? refuse_shared(w, u32(address), a.bytes)
              : a.rule == BadAccess::Local  ? refuse_local(w, address, a.bytes)
                                            : refuse_global(w, address);
  die_at(w, r.outcome, std::move(r.text), lanes, std::move(line), r.what);
}

}  // namespace

bool refused(const WarpCtx& ctx, u64 rule, u64 address, u64 bytes) {
  const Warp& w = static_cast<const Warp&>(ctx);
  switch (rule) {
    case BadAccess::Misaligned:
      return address & (bytes - 1);
    case BadAccess::Shared:
      return !in_shared(w, u32(address), bytes);
    case BadAccess::Local:
      return !in_local(w, address, bytes);
    case BadAccess::Param:
      return address >= kParamBytes;
    default:
      return !in_global(w, address);
  }
}

void rt_BadAccess(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto* table = reinterpret_cast<const u8*>(args[0]);
  const u64 count = *reinterpret_cast<const u64*>(table);
  const auto* list = reinterpret_cast<const BadAccess*>(table + 8);
  for (u64 k = 0; k < count; ++k) {
    u32 lanes = 0;
    for (u32 l : Lanes(mask))
      if (refused(w, list[k].rule, address_of(list[k], table, args[1 + k], l), list[k].bytes)) lanes |= 1u << l;
    if (lanes) report(w, list[k], table, args[1 + k], lanes);
  }
  report(w, list[0], table, args[1], mask);
}

// A generic address that is not in the global part: the windows of the cluster, the lane's own local memory,
// parameters.
void rt_CheckGeneric(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<CheckGenericArgs>(args);
  for (u32 l : Lanes(mask)) require_generic(w, a.addr[l], a.bytes[l], l);
}

void rt_StackOverflow(WarpCtx* ctx, u32 mask, const u64*, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  die(w, Outcome::IllegalAddress, overflow_text(w), mask, probe::Refused::StackOverflow);
}

}  // namespace us::device
