// SPDX-License-Identifier: Apache-2.0
#include "tools/chrome_trace.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/demangle.h"
#include "tools/trace_events.h"

namespace us::tools {
namespace {

using trace::Call;
using trace::Place;
using trace::Recording;
using trace::Work;

const char* side_name(Work::Side s) {
  switch (s) {
    case Work::Unknown:
      return "unknown memory";
    case Work::Pageable:
      return "host";
    case Work::Pinned:
      return "pinned host";
    case Work::Device:
      return "device";
    case Work::Array:
      return "array";
    case Work::Managed:
      return "managed";
  }
  return "?";
}

// One item of a stream's track: a graph's launch or a piece of work.
struct Item {
  u64 begin, end, call;
  Place place;
  std::string name, arguments;
};

class Writer : public TraceEvents {
 public:
  using TraceEvents::TraceEvents;
  void host(const Recording&);
  void devices(const Recording&);

 private:
  void arrow(const Recording&, u64 process, u64 track, const Item&);
  void streams(const Recording&, u64 process, std::vector<Item>);

  u64 next_device_process_ = u64(1) << 24, next_arrow_ = 1;
  std::unordered_map<u64, const Call*> calls_;
};

void Writer::host(const Recording& r) {
  named("process", r.process, 0, fmt::format("program {}", r.process));
  std::map<u32, bool> threads;
  calls_.clear();
  for (const Call& c : r.calls) {
    threads[c.head.thread] = true;
    calls_[c.id] = &c;
    const bool told = c.result > 0 && c.result < 1000;  // else the call gives no error code
    span("api", r.process, c.head.thread, c.begin, c.end, r.names.at(c.name),
         fmt::format(R"("call": {}, "error": {})", c.id, told ? c.result : 0));
  }
  for (const trace::Compile& c : r.compiles) {
    threads[c.head.thread] = true;
    span("compile", r.process, c.head.thread, c.begin, c.end, "compile " + demangled(r.names.at(c.name)),
         fmt::format(R"("call": {}, "from_cache": {})", c.call, c.from_cache != 0));
  }
  for (const auto& [thread, yes] : threads)
    named("thread", r.process, thread, thread == r.process ? "main thread" : fmt::format("thread {}", thread));
}

std::string triple(const u32 (&v)[3]) { return fmt::format("[{}, {}, {}]", v[0], v[1], v[2]); }

Item item_of(const Recording& r, const Work& w) {
  std::string a = fmt::format(R"("call": {}, "stream": {})", w.call, w.place.stream);
  if (w.place.graph) a += fmt::format(R"(, "graph": {}, "graph_node": {})", w.place.graph, w.place.node);
  if (w.what == Work::What::Kernel)
    a += fmt::format(
        R"(, "grid": {}, "block": {}, "cluster": {}, "registers": {}, "static_shared": {}, "dynamic_shared": {}, "local": {}, "domain": {}, "failed": {})",
        triple(w.grid), triple(w.block), triple(w.cluster), w.registers, w.static_shared, w.dynamic_shared, w.local,
        w.domain, w.failed);
  if (w.what == Work::What::Copy || w.what == Work::What::Set) a += fmt::format(R"(, "bytes": {})", w.bytes);
  return {w.begin, w.end, w.call, w.place, work_name(r, w), a};
}

Item item_of(const trace::Graph& g) {
  return {g.begin,
          g.end,
          g.call,
          g.place,
          fmt::format("graph {}", g.place.graph),
          fmt::format(R"("call": {}, "stream": {}, "graph": {}, "steps": {})", g.call, g.place.stream, g.place.graph,
                      g.nodes)};
}

void Writer::arrow(const Recording& r, u64 process, u64 track, const Item& i) {
  const auto c = calls_.find(i.call);
  if (c == calls_.end()) return;
  const Call& call = *c->second;
  const u64 from = std::min(call.end, std::max(call.begin, std::min(i.begin, (call.begin + call.end) / 2)));
  event(fmt::format(R"({{"ph": "s", "cat": "submit", "name": "submit", "id": {}, "pid": {}, "tid": {}, "ts": {}}})",
                    next_arrow_, r.process, call.head.thread, time(from)));
  event(fmt::format(
      R"({{"ph": "f", "bp": "e", "cat": "submit", "name": "submit", "id": {}, "pid": {}, "tid": {}, "ts": {}}})",
      next_arrow_++, process, track, time(i.begin)));
}

std::string stream_name(u64 stream, u64 lane) {
  const std::string name = stream == 0   ? "launched by kernels"
                           : stream == 1 ? "default stream"
                           : stream == 2 ? "per-thread default stream"
                                         : fmt::format("stream {}", stream);
  return lane ? fmt::format("{}, beside it {}", name, lane) : name;
}

// An item that overlaps with what is on its stream's track goes to the first free track below.
void Writer::streams(const Recording& r, u64 process, std::vector<Item> items) {
  constexpr u64 kLanes = 4096;
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::pair(a.begin, ~a.end) < std::pair(b.begin, ~b.end);
  });
  std::map<u64, std::vector<u64>> free_at;  // by stream, per lane
  for (const Item& i : items) {
    auto& lanes = free_at[i.place.stream];
    u64 lane = 0;
    while (lane < lanes.size() && lanes[lane] > i.begin) ++lane;
    if (lane == lanes.size()) lanes.push_back(0);
    lanes[lane] = i.end;
    const u64 track = i.place.stream * kLanes + lane;
    span("gpu", process, track, i.begin, i.end, i.name, i.arguments);
    arrow(r, process, track, i);
  }
  for (const auto& [stream, lanes] : free_at)
    for (u64 lane = 0; lane < lanes.size(); ++lane) {
      named("thread", process, stream * kLanes + lane, stream_name(stream, lane));
      sorted("thread", process, stream * kLanes + lane, stream * kLanes + lane);
    }
}

void Writer::devices(const Recording& r) {
  std::map<std::pair<u32, u32>, std::vector<Item>> contexts;
  for (const Work& w : r.work) contexts[{w.place.device, w.place.context}].push_back(item_of(r, w));
  for (const trace::Graph& g : r.graphs) contexts[{g.place.device, g.place.context}].push_back(item_of(g));
  for (auto& [where, items] : contexts) {
    const u64 process = next_device_process_++;
    named("process", process, 0, fmt::format("GPU {}, context {} of program {}", where.first, where.second, r.process));
    streams(r, process, std::move(items));
  }
}

u64 first_moment(const std::vector<Recording>& all) {
  u64 first = ~u64(0);
  for (const Recording& r : all) {
    for (const Call& c : r.calls) first = std::min(first, c.begin);
    for (const Work& w : r.work) first = std::min(first, w.begin);
    for (const trace::Graph& g : r.graphs) first = std::min(first, g.begin);
    for (const trace::Compile& c : r.compiles) first = std::min(first, c.begin);
  }
  return first;
}

}  // namespace

std::string work_name(const Recording& r, const Work& w) {
  switch (w.what) {
    case Work::What::Kernel:
      return demangled(r.names.at(w.name));
    case Work::What::Copy:
      return fmt::format("copy {} to {}", side_name(w.from), side_name(w.to));
    case Work::What::Set:
      return fmt::format("set {}", side_name(w.to));
    case Work::What::Host:
      return "host function";
    case Work::What::MemoryOperations:
      return "memory operations";
    case Work::What::Conditional:
      return "conditional node";
  }
  return "?";
}

std::string chrome_trace(const std::vector<Recording>& all) {
  Writer w(first_moment(all));
  for (const Recording& r : all) {
    w.host(r);
    w.devices(r);
  }
  return w.finish();
}

}  // namespace us::tools
