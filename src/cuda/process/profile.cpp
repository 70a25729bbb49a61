// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/profile.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <regex>
#include <set>
#include <unordered_map>

#include "base/demangle.h"
#include "cuda/devices.h"
#include "cuda/process/config.h"
#include "cuda/process/host_time.h"
#include "cuda/process/known_times.h"
#include "cuda/process/process_file.h"
#include "cuda/process/refusal.h"
#include "cuda/state.h"
#include "driver/runtime.h"
#include "timing/code_load.h"
#include "timing/device_chunks.h"
#include "timing/launch_counts.h"
#include "timing/timeline.h"

namespace us::cuda {
namespace {

constexpr std::string_view kEach = "each:", kRegex = "regex:";

// Kernels by their names without parameters, as Nsight Compute has them: a name, or "regex:" and an expression. Before
// it "each:", where launches of each kernel and shape are numbered apart.
class KernelNames {
 public:
  explicit KernelNames(const std::string& text)
      : each_(text.starts_with(kEach)), text_(each_ ? text.substr(kEach.size()) : text) {
    if (text_.starts_with(kRegex)) expression_.emplace(text_.substr(kRegex.size()));
  }
  bool each() const { return each_; }
  bool match(const std::string& kernel) const {
    const std::string name = function_name(kernel);
    if (expression_) return std::regex_search(name, *expression_);
    return text_.empty() || name == text_ || name.substr(0, name.find('<')) == text_;
  }

 private:
  const bool each_;
  const std::string text_;
  std::optional<std::regex> expression_;
};

using timing::KernelTime, timing::LaunchProfile, timing::WorkProfile;

WorkProfile::Place place_of(probe::Work::Place p) { return static_cast<WorkProfile::Place>(p); }

// What the work is, and what it moves.
void describe(const probe::Work& w, WorkProfile& to) {
  using Kind = WorkProfile::Kind;
  for (const auto* ranges : {&w.reads, &w.writes})
    for (const probe::Range& r : *ranges) to.bytes += r.bytes;
  if (w.what == "host function") to.kind = to.bytes ? Kind::Library : Kind::Join;
  if (w.stamp) to.kind = Kind::Stamp;
  if (w.what == "copy") to.kind = Kind::Copy;
  if (w.what == "set") to.kind = Kind::Set;
  if (to.kind != Kind::Copy && to.kind != Kind::Set) return;
  using Place = probe::Work::Place;
  to.bytes = w.bytes;
  to.from = place_of(w.from.place), to.to = place_of(w.to.place);
  to.device = w.to.place == Place::Device ? w.to.device : w.from.device;
  to.peers = w.from.place == Place::Device && w.to.place == Place::Device && w.from.device != w.to.device;
}

class Profiler final : public probe::Observer {
 public:
  explicit Profiler(const Settings& s)
      : file_(s.profile, "profile"),
        kernels_(s.profile_kernels),
        skip_(s.profile_skip),
        count_(s.profile_count),
        virtual_time_(s.profile_virtual_time),
        keeps_caches_(s.profile_keep_caches),
        what_ifs_(!s.profile_no_what_ifs && !s.profile_virtual_time) {}

  probe::Strategy strategy(const std::string& kernel) const override {
    return kernels_.match(kernel) ? probe::Strategy::Records : probe::Strategy::Nothing;
  }
  std::shared_ptr<probe::Listener> launch(const probe::LaunchInfo& l) override {
    const bool matches = kernels_.match(l.kernel);
    const u64 n = matches ? number_of(l) : 0;
    const bool wanted = matches && n >= skip_ && n - skip_ < count_;
    std::string why;
    const std::shared_ptr<const sass::Image> image = wanted && l.machine_code ? l.machine_code(why) : nullptr;
    {
      const std::lock_guard held(m_);
      kernels_submitted_[l.node] = {l.device, loaded_.load(parameters_, l, image.get())};
      if (virtual_time_ && !wanted) timeline_.took(l.node, std::nullopt);
    }
    if (!matches) return nullptr;
    timing::LaunchCounts::Done done;
    const KnownTimes::Shape shape = virtual_time_ ? KnownTimes::shape(l) : KnownTimes::Shape();
    if (wanted)
      done = [this, shape](LaunchProfile p, const timing::LaunchCounts::Counted& c) { ended(shape, std::move(p), c); };
    timing::ModelChoice how = choice(shape, l.device, static_cast<bool>(l.compression));
    if (wanted) how.detailed = detailed(l.kernel);
    auto counts = std::make_shared<timing::LaunchCounts>(l, codes_, std::move(done), std::move(how));
    if (!wanted) return counts;
    std::lock_guard held(m_);
    running_[l.id] = counts;
    return counts;
  }
  void fault(u64 launch, const probe::Fault&, const std::string& text) override {
    std::lock_guard held(m_);
    if (const auto it = running_.find(launch); it != running_.end())
      if (const auto counts = it->second.lock()) counts->fault(text);
  }
  void memory(const probe::Memory& m) override {
    const std::lock_guard held(m_);
    host_thread().since += chunks_.change(parameters_, m);
  }
  void work(const probe::Work& w) override {
    using Kind = probe::Work::Kind;
    if (w.kind == Kind::Begins || w.kind == Kind::Tells || w.kind == Kind::Hears) return;
    const std::lock_guard held(m_);
    if (w.kind == probe::Work::Kind::Complete) return complete(w.node);
    WorkProfile to = record_of(w);
    file_.write(timing::to_record(to));
    if (virtual_time_) timeline_.submit(to);
    if (keeps_caches_ && w.kind == probe::Work::Kind::Submitted && !(w.reads.empty() && w.writes.empty()))
      moves_[w.node] = {to.device, w.reads, w.writes};
  }
  std::optional<double> end_of(u64 node) override {
    if (!virtual_time_) return std::nullopt;
    const std::lock_guard held(m_);
    const auto span = timeline_.span(node);
    return span ? std::optional(span->end) : std::nullopt;
  }
  // Of the calling thread, in nanoseconds.
  double now() {
    HostThread& t = host_thread();
    host_works();
    const std::lock_guard held(m_);
    timeline_.pass(t.number, std::exchange(t.since, 0));
    return timeline_.now(t.number);
  }
  void moved_to_child() { file_.open(), listed_.clear(); }

 private:
  // Of those that match, or of those with the kernel and shape.
  u64 number_of(const probe::LaunchInfo& l) {
    const std::lock_guard held(m_);
    return matched_[kernels_.each() ? KnownTimes::shape(l) : KnownTimes::Shape()]++;
  }
  // Of each kernel so many launches are told with places and machine code; then their metrics.
  static constexpr u64 kDetailed = 40;
  bool detailed(const std::string& kernel) {
    const std::lock_guard held(m_);
    return launches_of_[kernel]++ < kDetailed;
  }

  struct Moves {
    u32 device = 0;
    std::vector<probe::Range> reads, writes;
  };

  struct Submitted {
    u32 device = 0;
    double load = 0;  // ns of the host, because it is the first launch
  };

  // m_ is held in what follows, but where it is taken.
  WorkProfile record_of(const probe::Work& w) {
    HostThread& t = host_thread();
    WorkProfile to{.process = static_cast<u32>(::getpid()),
                   .node = w.node,
                   .stream = w.stream,
                   .overlaps = w.overlaps,
                   .graph = w.graph,
                   .on_device = t.depth == 0,
                   .thread = t.number,
                   .host = std::exchange(t.since, 0),
                   .after = w.after,
                   .what = w.what};
    if (w.kind == probe::Work::Kind::Waited) {
      to.kind = WorkProfile::Kind::Waited;
    } else if (const auto k = kernels_submitted_.find(w.node); k != kernels_submitted_.end()) {
      to.kind = WorkProfile::Kind::Kernel, to.device = k->second.device;
      if (!to.on_device && !to.graph) to.host += k->second.load;
      kernels_submitted_.erase(k);
    } else {
      describe(w, to);
    }
    return to;
  }
  void complete(u64 node) {
    if (virtual_time_) timeline_.complete(node);
    const auto it = moves_.find(node);
    if (it == moves_.end()) return;
    const std::shared_ptr<timing::Footprint>& l2 = l2_of(it->second.device);
    for (const probe::Range& r : it->second.reads) l2->touch(r.begin, r.bytes, false);
    for (const probe::Range& r : it->second.writes) l2->touch(r.begin, r.bytes, true);
    moves_.erase(it);
  }
  const std::shared_ptr<timing::Footprint>& l2_of(u32 device) {
    auto& l2 = l2_[device];
    using timing::Footprint;
    if (!l2) l2 = std::make_shared<Footprint>(timing::parameters_of(preset_of(device).name), Footprint::Between::Kept);
    return l2;
  }
  // `varies`: with the contents of memory, not only with what counts say.
  timing::ModelChoice choice(const KnownTimes::Shape& shape, u32 device, bool varies) {
    const std::lock_guard held(m_);
    timing::ModelChoice c;
    if (keeps_caches_) c.l2 = l2_of(device);
    c.what_ifs = what_ifs_;
    if (!virtual_time_ || varies) return c;
    c.counts_only = [this, shape] {
      const std::lock_guard again(m_);
      return known_.known(shape);
    };
    return c;
  }
  void ended(const KnownTimes::Shape& shape, LaunchProfile p, const timing::LaunchCounts::Counted& c) {
    p.process = static_cast<u32>(::getpid());
    p.program = program_path();
    const std::lock_guard held(m_);
    std::erase_if(running_, [](const auto& r) { return r.second.expired(); });
    if (c.only) return reuse(shape, p, c);
    if (virtual_time_) {
      const auto time = timing::kernel_time(p);
      known_.modelled(shape, time, c);
      timeline_.took(p.node, time);
    }
    if (p.listing && listed_.insert(p.listing->id).second) file_.write(timing::to_record(*p.listing, p.process));
    file_.write(timing::to_record(p));
  }
  void reuse(const KnownTimes::Shape& shape, const LaunchProfile& p, const timing::LaunchCounts::Counted& c) {
    KnownTimes::Answer a = known_.of(shape, c);
    if (a.time) a.time->split = p.residency.shared_wish;
    timeline_.took(p.node, a.time);
    if (keeps_caches_) l2_of(p.device)->pass(a.l2_lines);
    const KernelTime t = a.time.value_or(KernelTime{0, 0, 0});
    file_.write(timing::to_record(timing::ReusedTime{p.process, p.node, p.kernel, a.scaled, t}));
  }

  ProcessFile file_;
  const KernelNames kernels_;
  const u64 skip_, count_;
  const bool virtual_time_, keeps_caches_, what_ifs_;
  // Virtual time has devices of one kind.
  const timing::Parameters& parameters_ = timing::parameters_of(preset_of(0).name);
  timing::KernelCodes codes_;
  std::mutex m_;  // guards what follows, and the file
  std::map<u64, std::weak_ptr<timing::LaunchCounts>> running_;
  std::set<u32> listed_;                                  // kernels whose machine code is in the file
  std::unordered_map<u64, Submitted> kernels_submitted_;  // by node
  timing::LoadedCode loaded_;
  timing::DeviceChunks chunks_;
  std::map<KnownTimes::Shape, u64> matched_;
  std::map<std::string, u64> launches_of_;  // that were profiled, by kernel
  std::unordered_map<u64, Moves> moves_;
  std::map<u32, std::shared_ptr<timing::Footprint>> l2_;  // by device
  timing::Timeline timeline_{parameters_};
  KnownTimes known_;
};

std::atomic<Profiler*> made = nullptr;

bool host_clock() {
  static const bool is = setting_text("profile_host_clock") == "1";
  return is;
}

// What the library before the program's own (loader/clock) answers; ~0: as it is.
u64 program_clock() {
  const HostThread& t = host_thread();
  if (!t.number || t.depth) return ~u64{0};
  return static_cast<u64>(made.load()->now());
}

void set_program_clock(u64 (*clock)()) {
  using Set = void (*)(u64(*)());
  if (const auto set = reinterpret_cast<Set>(::dlsym(RTLD_DEFAULT, "understudy_set_clock"))) set(clock);
}

}  // namespace

bool profiling() {
  static const bool is = !setting_text("profile").empty();
  return is;
}

probe::Observer* profiler() {
  if (!profiling()) return nullptr;
  static Profiler* const p = made = new Profiler(config().settings);
  if (host_clock()) set_program_clock(program_clock);
  return p;
}

void profile_in_child() {
  if (Profiler* p = made) p->moved_to_child();
}

void profile_call(std::string_view function) { host_call_begins(function, host_clock()); }
void profile_call_ends() { host_call_ends(host_clock()); }

void finish_profile() {
  if (made && host_clock()) set_program_clock(nullptr);
  if (made && !in_refused_child()) wait_for_work();
}

}  // namespace us::cuda
