// SPDX-License-Identifier: Apache-2.0
// Work where the model of the timeline places it (timing/timeline.h), and the multiprocessors that were replayed.
#include "tools/profile/timeline.h"

#include <algorithm>
#include <map>

#include "tools/trace_events.h"

namespace us::tools {
namespace {

using timing::LaunchProfile, timing::ReplayedWarp, timing::WorkProfile;

constexpr u64 kDefault = 1;                // number of the default stream
constexpr u64 kLanes = 4096;               // tracks of a stream, at most
constexpr u64 kReplay = u64{1} << 24;      // tracks of replayed multiprocessors are processes from there on
constexpr std::size_t kMostReplays = 100;  // launches whose warps are shown

std::string three(const u32 (&n)[3]) { return fmt::format("[{}, {}, {}]", n[0], n[1], n[2]); }

// Spans that overlap lie on tracks beside each other.
class Tracks {
 public:
  u64 track_of(u64 begin, u64 end) {
    std::size_t k = 0;
    while (k < free_.size() && free_[k] > begin) ++k;
    if (k == free_.size()) free_.push_back(0);
    free_[k] = end;
    return k;
  }
  std::size_t size() const { return free_.size(); }

 private:
  std::vector<u64> free_;
};

std::string name_of(const WorkProfile& w) {
  using Place = WorkProfile::Place;
  if (w.kind != WorkProfile::Kind::Copy) return w.what;
  const auto end = [](Place p) { return p == Place::Pageable ? "pageable" : p == Place::Pinned ? "pinned" : "device"; };
  return fmt::format("copy, {} to {}", end(w.from), w.peers ? "another device" : end(w.to));
}

class Picture {
 public:
  void process(const PlacedProcess& p) {
    process_ = p.number;
    streams_.clear();
    const LaunchProfile* any = nullptr;
    for (const PlacedWork& w : p.work) {
      draw(w);
      if (!any) any = w.launch;
    }
    if (any)
      events_.named("process", process_, 0, fmt::format("{} (modelled), program {}", any->residency.device, process_));
    for (const auto& [stream, tracks] : streams_)
      name(process_, stream * kLanes, tracks, stream > kDefault ? fmt::format("stream {}", stream) : "default stream");
  }
  std::string finish() { return events_.finish(); }

 private:
  void draw(const PlacedWork& p) {
    const WorkProfile& w = p.work;
    const bool kernel = p.launch || p.reused;
    if (!kernel && w.what.empty()) return;
    const u64 begin = static_cast<u64>(p.span.begin + 0.5), end = static_cast<u64>(p.span.end + 0.5);
    const u64 track = w.stream * kLanes + streams_[w.stream].track_of(begin, end);
    if (!kernel)
      return events_.span("other", process_, track, begin, end, name_of(w), fmt::format(R"("bytes": {})", w.bytes));
    if (p.reused)
      return events_.span("kernel", process_, track, begin, end, p.reused->kernel, R"("as": "launches before it")");
    const LaunchProfile& l = *p.launch;
    std::string a = fmt::format(R"("launch": {}, "grid": {}, "block": {})", l.id, three(l.grid), three(l.block));
    if (!l.no_time.empty()) a += R"(, "no_time": )" + TraceEvents::quoted(l.no_time);
    events_.span("kernel", process_, track, begin, end, l.kernel, a);
    const timing::Parameters& device = timing::parameters_of(l.residency.device);
    const double head = device.launch_cycles / device.sm_clock / 2;
    if (!l.replay.empty() && replays_ < kMostReplays) replay(l, static_cast<u64>(p.span.begin + head));
  }

  // The multiprocessors that were replayed: their CTAs, and the warps of each sub-partition.
  void replay(const LaunchProfile& l, u64 zero) {
    ++replays_;
    cycle_ = 1 / timing::parameters_of(l.residency.device).sm_clock;
    std::map<u32, std::vector<const ReplayedWarp*>> by_sm;
    for (const ReplayedWarp& w : l.replay) by_sm[w.sm].push_back(&w);
    for (auto& [sm, warps] : by_sm) {
      const u64 process = kReplay + next_++;
      events_.named("process", process, 0,
                    fmt::format("SM {} in launch {} of program {}: {}", sm, l.id, process_, l.kernel));
      std::ranges::sort(warps, {}, [](const ReplayedWarp* w) { return std::tuple(w->begin, w->cta, w->warp); });
      std::map<u32, std::pair<u64, u64>> ctas;
      for (const ReplayedWarp* w : warps) {
        const auto it = ctas.try_emplace(w->cta, w->begin, w->end).first;
        it->second = {std::min(it->second.first, w->begin), std::max(it->second.second, w->end)};
      }
      std::vector<std::tuple<u64, u64, u32>> by_begin;
      for (const auto& [cta, span] : ctas) by_begin.push_back({span.first, span.second, cta});
      std::ranges::sort(by_begin);
      Tracks of_ctas, of_partition[4];
      for (const auto& [begin, end, cta] : by_begin)
        span(process, of_ctas.track_of(begin, end), zero, begin, end, fmt::format("CTA {}", cta));
      for (const ReplayedWarp* w : warps) {
        const u64 part = w->partition % 4;
        span(process, (part + 1) * kLanes + of_partition[part].track_of(w->begin, w->end), zero, w->begin, w->end,
             fmt::format("warp {} of CTA {}", w->warp, w->cta));
      }
      name(process, 0, of_ctas, "CTAs");
      for (u64 part = 0; part < 4; ++part)
        name(process, (part + 1) * kLanes, of_partition[part], fmt::format("sub-partition {}", part));
    }
  }
  void span(u64 process, u64 track, u64 zero, u64 begin, u64 end, const std::string& what) {
    const auto at = [&](u64 cycle) { return zero + static_cast<u64>(static_cast<double>(cycle) * cycle_); };
    events_.span("replay", process, track, at(begin), at(end), what, fmt::format(R"("cycles": {})", end - begin));
  }
  void name(u64 process, u64 first, const Tracks& tracks, const std::string& what) {
    for (u64 k = 0; k < tracks.size(); ++k) {
      events_.named("thread", process, first + k, what);
      events_.sorted("thread", process, first + k, first + k);
    }
  }
  TraceEvents events_;
  u32 process_ = 0;
  u64 next_ = 0;
  std::size_t replays_ = 0;
  double cycle_ = 0;  // ns, of the replay that is drawn
  std::map<u64, Tracks> streams_;
};

}  // namespace

std::string timeline(const std::vector<PlacedProcess>& all) {
  Picture t;
  for (const PlacedProcess& p : all)
    if (std::ranges::any_of(p.work, [](const PlacedWork& w) { return w.launch || w.reused; })) t.process(p);
  return t.finish();
}

}  // namespace us::tools
