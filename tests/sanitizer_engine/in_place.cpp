// SPDX-License-Identifier: Apache-2.0
#include "sanitizer_engine/in_place.h"

namespace us::sanitizer::test {

using probe::QuickRecords;
using probe::QuickSite;

namespace {

template <class T>
T& at(u64 address) {
  return *reinterpret_cast<T*>(address);
}

// Lanes that lie behind each other from `low` on, or have that address.
struct Part {
  u32 first = 0, lanes = 32;
  bool same = false;
  u64 low = 0;
};

bool mark(const QuickSite& s, u32 site, const Part& p, u32 bytes) {
  const u64 size = p.same ? bytes : p.lanes * u64{bytes};
  if (!p.same && bytes > 4 && p.low % 128) return false;
  for (u64 a = p.low; a < p.low + size; a += 4) {
    at<u32>(s.words + a / 128 * 4) |= 1u << (a / 4 % 32);
    at<u16>(s.sites + a / 64 * 2) = static_cast<u16>(site);
  }
  return true;
}

bool record(const QuickRecords& r, u32 site, const probe::QuickAccess& a, u64 least, const Part& p) {
  const u64 low = p.low;
  if (low % QuickRecords::kCovers || !r.at) return false;
  const u64 size = p.lanes * u64{a.bytes}, shift = a.bytes == 4 ? 0 : a.bytes == 8 ? 1 : 2;
  const auto lane = [&](u64 address) { return p.first + (address - low) / a.bytes; };
  const auto reader = [&](u64 address) {
    return lane(address) << 32 | shift << QuickRecords::kReaderShift | r.read[1];
  };
  constexpr u64 kReader = (u64{1} << QuickRecords::kWriterShift) - 1;
  for (u64 address = low; address < low + size; address += QuickRecords::kCovers) {
    const u64* const pair = &at<u64>(r.at + address / QuickRecords::kCovers * QuickRecords::kBytes);
    const u64 writer = pair[0] & 0xffffffff;
    if (writer - least >= r.limit[0] - least) return false;
    if ((pair[1] & 0xffffffff) >= r.limit[1] && (pair[1] & kReader) != reader(address)) return false;
  }
  for (u64 address = low; address < low + size; address += QuickRecords::kCovers) {
    u64* const pair = &at<u64>(r.at + address / QuickRecords::kCovers * QuickRecords::kBytes);
    if (a.write) {
      pair[0] = r.write[0] | lane(address) | u64{site} << 32;
      pair[1] = r.write[1] | shift << QuickRecords::kWriterShift;
    } else {
      pair[0] = (pair[0] & ((u64{1} << 48) - 1)) | u64{site} << 48;
      pair[1] = (pair[1] & ~kReader) | reader(address);
    }
  }
  for (const u64 address : {low, low + size - 1})
    if (!a.shared) at<u8>(r.pages + address / QuickRecords::kPage) = 1;
  return true;
}

bool judged(const probe::Quick& q, u32 site, probe::QuickAccess a, const Part& p) {
  if (!q.sites || p.low % a.bytes) return false;
  const QuickSite& s = q.sites[site];
  const u64 size = p.same ? a.bytes : p.lanes * u64{a.bytes};
  if (p.low - s.begin >= s.bytes || s.bytes - (p.low - s.begin) < size) return false;
  if (!a.write && !a.shared && s.words) return mark(s, site, p, a.bytes);
  return !p.same && record(a.shared ? q.shared : q.global, site, a, a.write ? 0 : s.sites, p);
}

}  // namespace

bool judged_in_place(const probe::Quick& q, u32 lanes, u32 site, probe::QuickAccess a, bool same, u64 address) {
  if (same ? lanes == 0 || a.write : lanes != ~0u) return false;
  return judged(q, site, a, {.same = same, .low = address});
}

bool halves_judged_in_place(const probe::Quick& q, u32 lanes, u32 site, probe::QuickAccess a, const u64* address) {
  for (u32 l = 0; l < 32; l++)
    if (address[l] != address[l & 16] + u64{l & 15} * a.bytes) return false;
  return lanes == ~0u && judged(q, site, a, {.first = 0, .lanes = 16, .low = address[0]}) &&
         judged(q, site, a, {.first = 16, .lanes = 16, .low = address[16]});
}

}  // namespace us::sanitizer::test
