// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/profile.h"

#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <regex>
#include <set>

#include "base/demangle.h"
#include "cuda/process/config.h"
#include "cuda/process/process_file.h"
#include "cuda/process/refusal.h"
#include "cuda/state.h"
#include "driver/runtime.h"
#include "timing/launch_counts.h"

namespace us::cuda {
namespace {

// Kernels by their names without parameters, as Nsight Compute has them: a name, or "regex:" and an expression.
class KernelNames {
 public:
  explicit KernelNames(const std::string& text) : text_(text) {
    constexpr std::string_view kRegex = "regex:";
    if (text.starts_with(kRegex)) expression_.emplace(text.substr(kRegex.size()));
  }
  bool match(const std::string& kernel) const {
    const std::string name = function_name(kernel);
    if (expression_) return std::regex_search(name, *expression_);
    return text_.empty() || name == text_ || name.substr(0, name.find('<')) == text_;
  }

 private:
  const std::string text_;
  std::optional<std::regex> expression_;
};

class Profiler final : public probe::Observer {
 public:
  explicit Profiler(const Settings& s)
      : file_(s.profile, "profile"), kernels_(s.profile_kernels), skip_(s.profile_skip), count_(s.profile_count) {}

  probe::Strategy strategy(const std::string& kernel) const override {
    return kernels_.match(kernel) ? probe::Strategy::Records : probe::Strategy::Nothing;
  }
  std::shared_ptr<probe::Listener> launch(const probe::LaunchInfo& l) override {
    if (!kernels_.match(l.kernel)) return nullptr;
    const u64 n = matched_++;
    const bool wanted = n >= skip_ && n - skip_ < count_;
    timing::LaunchCounts::Done done;
    if (wanted) done = [this](timing::LaunchProfile p) { write(std::move(p)); };
    auto counts = std::make_shared<timing::LaunchCounts>(l, codes_, std::move(done));
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
  void work(const probe::Work& w) override {
    if (w.kind == probe::Work::Kind::Complete) return;
    timing::WorkProfile to{
        static_cast<u32>(::getpid()), w.kind == probe::Work::Kind::Waited, w.node, w.stream, 0, w.after, w.what};
    for (const probe::Range& r : w.writes) to.bytes += r.bytes;
    const std::lock_guard held(m_);
    file_.write(timing::to_record(to));
  }
  void moved_to_child() { file_.open(), listed_.clear(); }

 private:
  void write(timing::LaunchProfile p) {
    p.process = static_cast<u32>(::getpid());
    p.program = program_path();
    std::lock_guard held(m_);
    if (p.listing && listed_.insert(p.listing->id).second) file_.write(timing::to_record(*p.listing, p.process));
    file_.write(timing::to_record(p));
    std::erase_if(running_, [](const auto& r) { return r.second.expired(); });
  }

  ProcessFile file_;
  const KernelNames kernels_;
  const u64 skip_, count_;
  std::atomic<u64> matched_{0};
  timing::KernelCodes codes_;
  std::mutex m_;  // guards what follows, and the file
  std::map<u64, std::weak_ptr<timing::LaunchCounts>> running_;
  std::set<u32> listed_;  // kernels whose machine code is in the file
};

std::atomic<Profiler*> made = nullptr;

}  // namespace

bool profiling() {
  static const bool is = !setting_text("profile").empty();
  return is;
}

probe::Observer* profiler() {
  if (!profiling()) return nullptr;
  static Profiler* const p = made = new Profiler(config().settings);
  return p;
}

void profile_in_child() {
  if (Profiler* p = made) p->moved_to_child();
}

void finish_profile() {
  if (made && !in_refused_child()) wait_for_work();
}

}  // namespace us::cuda
