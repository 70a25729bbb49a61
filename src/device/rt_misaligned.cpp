// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "device/misaligned.h"
#include "device/rt.h"

namespace us::device {
namespace {

u64 address_of(const MisalignedAccess& a, const u8* table, u64 base, u32 lane) {
  if (a.where == MisalignedAccess::Rows) return reinterpret_cast<const u64*>(base)[lane] + a.offset;
  if (a.where > MisalignedAccess::Rows) base += reinterpret_cast<const u64*>(table + a.where)[lane];
  return base + a.offset;
}

std::string text_of(const MisalignedAccess& a, const u8* table, u64 base, u32 lanes) {
  std::string where = "an address";
  if (a.where != MisalignedAccess::Unknown)
    where = fmt::format("address {:#x}", address_of(a, table, base, first_lane(lanes)));
  return fmt::format("misaligned access: {} bytes at {}, which is no multiple of {}", a.bytes, where, a.bytes);
}
void report(Warp& w, const MisalignedAccess& a, const u8* table, u64 base, u32 lanes) {
  die_at(w, Outcome::MisalignedAddress, text_of(a, table, base, lanes), lanes,
         a.text ? std::string(reinterpret_cast<const char*>(table + a.text)) : line_of_call(w));
}

}  // namespace

void rt_Misaligned(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto* table = reinterpret_cast<const u8*>(args[0]);
  const u64 count = *reinterpret_cast<const u64*>(table);
  const auto* list = reinterpret_cast<const MisalignedAccess*>(table + 8);
  for (u64 k = 0; k < count; ++k) {
    u32 lanes = 0;
    for (u32 l : Lanes(mask))
      if (address_of(list[k], table, args[1 + k], l) & (list[k].bytes - 1)) lanes |= 1u << l;
    if (lanes) report(w, list[k], table, args[1 + k], lanes);
  }
  report(w, list[0], table, args[1], mask);
}

}  // namespace us::device
