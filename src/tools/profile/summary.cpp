// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/summary.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace us::tools {
namespace {

using timing::WorkProfile;
using Kind = WorkProfile::Kind;

struct Sum {
  std::string name;
  u64 number = 0, modelled = 0, bytes = 0;
  double all = 0, least = 0, most = 0;  // ns
  void add(const PlacedWork& w) {
    const double ns = w.span.end - w.span.begin;
    least = number ? std::min(least, ns) : ns;
    most = std::max(most, ns);
    ++number, all += ns, bytes += w.work.bytes, modelled += w.launch != nullptr;
  }
};

std::string microseconds(double ns) { return fmt::format("{:.2f}", ns / 1000); }

// Longest first.
std::vector<Sum> sorted(const std::map<std::string, Sum>& of) {
  std::vector<Sum> all;
  for (const auto& [name, sum] : of) all.push_back(sum), all.back().name = name;
  std::ranges::stable_sort(all, std::greater<>(), &Sum::all);
  return all;
}

std::string moved(const WorkProfile& w) {
  using Place = WorkProfile::Place;
  if (w.kind == Kind::Set) return "set";
  const auto end = [](Place p) {
    return p == Place::Device ? "device" : p == Place::Pinned ? "pinned host" : "pageable host";
  };
  return fmt::format("copy, {} to {}", end(w.from), w.peers ? "another device" : end(w.to));
}

struct Missing {
  std::string why;
  u64 launches = 0;
};

class Summary {
 public:
  explicit Summary(const PlacedProcess& p) {
    for (const PlacedWork& w : p.work) {
      end_ = std::max(end_, w.span.end);
      if (w.work.kind == Kind::Kernel) kernel(w);
      if (w.work.kind == Kind::Copy || w.work.kind == Kind::Set) moves_[moved(w.work)].add(w);
      if (w.work.kind == Kind::Library) library_.add(w);
      others_ += w.work.kind == Kind::Join && !w.work.what.empty();
    }
  }

  std::string text(u32 process) const {
    std::string s = fmt::format("  Virtual time of program {}: its last work ends at {:.3f} ms\n", process, end_ / 1e6);
    if (!kernels_.empty()) {
      s += row("Kernel", "Launches", "Modelled", "Total µs", "Mean µs", "Min µs", "Max µs");
      for (const Sum& k : sorted(kernels_))
        s += row(k.name, k.number, k.modelled, microseconds(k.all), microseconds(k.all / static_cast<double>(k.number)),
                 microseconds(k.least), microseconds(k.most));
    }
    if (!moves_.empty()) {
      s += row("Memory", "Number", "MB", "Total µs", "Mean µs", "Min µs", "Max µs");
      for (const Sum& m : sorted(moves_))
        s += row(m.name, m.number, fmt::format("{:.3f}", static_cast<double>(m.bytes) / 1e6), microseconds(m.all),
                 microseconds(m.all / static_cast<double>(m.number)), microseconds(m.least), microseconds(m.most));
    }
    return s + sentences();
  }

 private:
  template <class... C>
  static std::string row(std::string_view name, const C&... cells) {
    constexpr std::size_t kName = 44;
    return fmt::format("    {:<44} {:>9} {:>10} {:>13} {:>11} {:>11} {:>11}\n", name.substr(0, kName), cells...);
  }
  void kernel(const PlacedWork& w) {
    const std::string name = w.launch ? w.launch->kernel : w.reused ? w.reused->kernel : "?";
    if (w.launch && !w.launch->no_time.empty()) missing_[name].why = w.launch->no_time;
    if (!w.timed()) return void(++missing_[name].launches);
    kernels_[name].add(w);
    if (w.reused) ++(w.reused->scaled ? scaled_ : reused_);
  }
  std::string sentences() const {
    std::string s;
    const auto launches = [](u64 n) { return fmt::format("{} launch{}", n, n == 1 ? "" : "es"); };
    for (const auto& [name, m] : missing_)
      s += fmt::format(
          "    There is no figure for {} of {}, which took no time here: {}. Times that contain them are too short.\n",
          launches(m.launches), name, m.why.empty() ? "it was not profiled" : m.why);
    if (reused_)
      s += fmt::format("    {} took what those like them before took (same shape, same counts of instructions).\n",
                       launches(reused_));
    if (scaled_)
      s += fmt::format("    {} took what those of the same shape before took, scaled by their instructions.\n",
                       launches(scaled_));
    if (library_.number)
      s += fmt::format("    {} functions of libraries, which the host computes here, took what their bytes take.\n",
                       library_.number);
    if (others_) s += fmt::format("    {} functions of the host took no time.\n", others_);
    return s;
  }

  std::map<std::string, Sum> kernels_, moves_;
  std::map<std::string, Missing> missing_;
  Sum library_;
  u64 reused_ = 0, scaled_ = 0, others_ = 0;
  double end_ = 0;
};

}  // namespace

std::string summary_text(const std::vector<PlacedProcess>& all) {
  std::string s;
  for (const PlacedProcess& p : all)
    if (!p.work.empty()) s += Summary(p).text(p.number) + "\n";
  return s;
}

}  // namespace us::tools
