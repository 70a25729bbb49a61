// SPDX-License-Identifier: Apache-2.0
#include "driver/operation/spans.h"

#include "driver/code/function.h"
#include "driver/context.h"
#include "driver/device.h"
#include "memory/registry.h"

namespace us::driver {
namespace {

using trace::Work;

void set(u32 (&to)[3], const device::Dim3& d) {
  to[0] = d.x;
  to[1] = d.y;
  to[2] = d.z;
}

}  // namespace

trace::Place place_of(const Stream& s) {
  return {.device = s.context().device().ordinal(),
          .context = static_cast<u32>(s.context().id()),
          .stream = s.id(),
          .graph = 0,
          .node = 0};
}

Work::Side Spans::side(u64 address, bool array) const {
  if (array) return Work::Array;
  const auto a = registry_.find(address);
  if (!a) return Work::Pageable;
  if (a->kind == memory::Kind::Managed) return Work::Managed;
  return a->host() ? Work::Pinned : Work::Device;
}

SpanRef Spans::kernel(const trace::Place& place, const device::Launch& launch, const Function& f, u32 domain) const {
  if (!recorder_) [[likely]]
    return nullptr;
  Work w;
  w.what = Work::What::Kernel;
  w.name = recorder_->name(launch.code ? launch.code->name : f.name());
  w.place = place;
  set(w.grid, launch.ctx.grid);
  set(w.block, launch.ctx.block);
  set(w.cluster, launch.ctx.cluster);
  w.registers = f.resources_at_hand().registers;
  w.static_shared = launch.ctx.shared_static;
  w.dynamic_shared = launch.ctx.shared_dynamic;
  w.local = f.resources_at_hand().local_bytes;
  w.domain = domain;
  return std::make_unique<trace::Span>(*recorder_, w);
}

SpanRef Spans::copy(const trace::Place& place, const Copy& c) const {
  if (!recorder_) [[likely]]
    return nullptr;
  Work w;
  w.what = Work::What::Copy;
  w.place = place;
  w.from = side(c.src, c.src_array);
  w.to = side(c.dst, c.dst_array);
  w.bytes = c.bytes();
  return std::make_unique<trace::Span>(*recorder_, w);
}

SpanRef Spans::fill(const trace::Place& place, const Fill& f) const {
  if (!recorder_) [[likely]]
    return nullptr;
  Work w;
  w.what = Work::What::Set;
  w.place = place;
  w.to = side(f.dst, false);
  w.bytes = f.bytes();
  return std::make_unique<trace::Span>(*recorder_, w);
}

SpanRef Spans::other(const trace::Place& place, Work::What what) const {
  if (!recorder_) [[likely]]
    return nullptr;
  Work w;
  w.what = what;
  w.place = place;
  return std::make_unique<trace::Span>(*recorder_, w);
}

SpanRef Spans::graph(const trace::Place& place, u64 nodes) const {
  if (!recorder_) [[likely]]
    return nullptr;
  trace::Graph g;
  g.place = place;
  g.nodes = nodes;
  return std::make_unique<trace::Span>(*recorder_, g);
}

}  // namespace us::driver
