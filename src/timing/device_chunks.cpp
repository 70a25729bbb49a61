// SPDX-License-Identifier: Apache-2.0
#include "timing/device_chunks.h"

#include <algorithm>

namespace us::timing {
namespace {

constexpr u64 kChunk = u64{2} << 20, kPart = 512;

double mib(u64 bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

double DeviceChunks::change(const Parameters& p, const probe::Memory& m) {
  using Kind = probe::Memory::Kind;
  if (m.owner != probe::Memory::Owner::Device) return 0;
  if (m.kind == Kind::Allocated) return allocate(p, devices_[m.device], m);
  if (m.kind != Kind::Freed) return 0;
  const auto it = parts_.find(m.begin);
  if (it == parts_.end()) return 0;
  const Part part = it->second;
  parts_.erase(it);
  return release(p, devices_[m.device], part);
}

double DeviceChunks::allocate(const Parameters& p, OfDevice& of, const probe::Memory& m) {
  const u64 bytes = (m.bytes + kPart - 1) / kPart * kPart;
  const auto room = std::ranges::find_if(of.used, [&](const auto& c) { return c.second + bytes <= kChunk; });
  if (room != of.used.end()) {
    room->second += bytes;
    parts_[m.begin] = {room->first, bytes};
    return p.host_part;
  }
  of.used[of.chunks] = bytes;
  parts_[m.begin] = {of.chunks++, bytes};
  return p.host_chunk + mib(bytes) * p.host_chunk_mib;
}

double DeviceChunks::release(const Parameters& p, OfDevice& of, const Part& part) {
  const auto chunk = of.used.find(part.chunk);
  chunk->second -= part.bytes;
  if (chunk->second) return p.host_part;
  of.used.erase(chunk);
  return p.host_chunk_back + mib(part.bytes) * p.host_chunk_back_mib;
}

}  // namespace us::timing
