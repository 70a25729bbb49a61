// SPDX-License-Identifier: Apache-2.0
#include "driver/operation/told.h"

#include "memory/registry.h"

namespace us::driver {
namespace {
constexpr u64 kMostRows = 4096;  // of a copy with more of them it is told where they lie
}

// Pageable memory is read or written while the program waits: the order of streams does not concern it.
std::vector<probe::Range> Told::rows(u64 at, u64 width, u64 height, u64 depth, u64 pitch, u64 slice) const {
  if (!width || !height || !depth) return {};
  const bool dense_rows = height == 1 || pitch == width, dense = dense_rows && (depth == 1 || slice == width * height);
  if (dense) return {{probe::Space::Global, at, width * height * depth}};
  if (height * depth > kMostRows) return {};
  std::vector<probe::Range> out;
  for (u64 z = 0; z < depth; ++z)
    for (u64 y = 0; y < height; ++y) out.push_back({probe::Space::Global, at + z * slice + y * pitch, width});
  return out;
}

probe::Work::End Told::end_at(u64 address, bool array) const {
  using Place = probe::Work::Place;
  const auto a = memory_.find(address);
  if (!a) return {array ? Place::Device : Place::Pageable, 0};
  return {a->host() ? Place::Pinned : Place::Device, a->device};
}

std::unique_ptr<probe::Work> Told::copy(const Copy& c) const {
  auto w = std::make_unique<probe::Work>();
  w->what = "copy";
  if (c.src_array || memory_.find(c.src)) w->reads = rows(c.src, c.width, c.height, c.depth, c.src_pitch, c.src_slice);
  if (c.dst_array || memory_.find(c.dst)) {
    w->writes = rows(c.dst, c.width, c.height, c.depth, c.dst_pitch, c.dst_slice);
    if (w->writes.empty() && c.bytes()) w->written_among = {{probe::Space::Global, c.dst, c.dst_extent()}};
  }
  w->from = end_at(c.src, c.src_array), w->to = end_at(c.dst, c.dst_array), w->bytes = c.bytes();
  return w;
}

std::unique_ptr<probe::Work> Told::fill(const Fill& f) const {
  auto w = std::make_unique<probe::Work>();
  w->what = "set";
  if (memory_.find(f.dst)) {
    w->writes = rows(f.dst, f.width * f.element, f.height, f.depth, f.pitch, f.slice);
    if (w->writes.empty() && f.bytes()) w->written_among = {{probe::Space::Global, f.dst, f.extent()}};
  }
  w->to = end_at(f.dst, false), w->bytes = f.bytes();
  return w;
}

std::unique_ptr<probe::Work> Told::allocation(u64 address) const {
  auto w = other("allocation");
  if (const auto a = memory_.find(address)) w->allocates = {{probe::Space::Global, a->address, a->bytes}};
  return w;
}

std::unique_ptr<probe::Work> Told::free(u64 address) const {
  auto w = other("free");
  if (const auto a = memory_.find(address)) w->frees = {{probe::Space::Global, a->address, a->bytes}};
  return w;
}

std::unique_ptr<probe::Work> Told::other(const char* what) const {
  auto w = std::make_unique<probe::Work>();
  w->what = what;
  return w;
}

}  // namespace us::driver
