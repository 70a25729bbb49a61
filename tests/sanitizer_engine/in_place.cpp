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

bool mark(const QuickSite& s, u32 site, bool same, u32 bytes, u64 low) {
  const u64 size = same ? bytes : 32 * u64{bytes};
  if (!same && bytes > 4 && low % 128) return false;
  for (u64 a = low; a < low + size; a += 4) {
    at<u32>(s.words + a / 128 * 4) |= 1u << (a / 4 % 32);
    at<u16>(s.sites + a / 64 * 2) = static_cast<u16>(site);
  }
  return true;
}

bool record(const QuickRecords& r, u32 site, const probe::QuickAccess& a, u64 least, u64 low) {
  if (low % QuickRecords::kCovers || !r.at) return false;
  const u64 size = 32 * u64{a.bytes}, shift = a.bytes == 4 ? 0 : a.bytes == 8 ? 1 : 2;
  const auto reader = [&](u64 address) {
    return (address - low) / a.bytes << 32 | shift << QuickRecords::kReaderShift | r.read[1];
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
      pair[0] = r.write[0] | (address - low) / a.bytes | u64{site} << 32;
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

}  // namespace

bool judged_in_place(const probe::Quick& q, u32 lanes, u32 site, probe::QuickAccess a, bool same, u64 address) {
  if (!q.sites || (same ? lanes == 0 || a.write : lanes != ~0u) || address % a.bytes) return false;
  const QuickSite& s = q.sites[site];
  const u64 size = same ? a.bytes : 32 * u64{a.bytes};
  if (address - s.begin >= s.bytes || s.bytes - (address - s.begin) < size) return false;
  if (!a.write && !a.shared && s.words) return mark(s, site, same, a.bytes, address);
  return !same && record(a.shared ? q.shared : q.global, site, a, a.write ? 0 : s.sites, address);
}

}  // namespace us::sanitizer::test
