// SPDX-License-Identifier: Apache-2.0
#include "timing/traces.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace us::timing {
namespace {

constexpr u64 kMostSteps = 32'000'000;  // of different paths, together
constexpr u64 kMostWords = 64'000'000;  // of accesses that are kept

u64 hash_of(const std::vector<sass::PathStep>& path) {
  Hash h;
  for (const sass::PathStep& s : path) h.word(s.block | u64{s.lanes} << 32);
  return h.a;
}

}  // namespace

Traces::Open& Traces::open(u32 cta) {
  if (last_ && last_cta_ == cta) return *last_;
  const auto [it, fresh] = open_.try_emplace(cta);
  if (fresh) {
    it->second.trace.cta = cta;
    it->second.trace.warps.resize(warps_);
    it->second.wanted = words_ < kMostWords && wanted_(cta);
  }
  last_cta_ = cta;
  return *(last_ = &it->second);
}

void Traces::add(const probe::Record& r, const u64* begin, const u64* end, float cost) {
  using Kind = probe::RecordCode::Kind;
  Open& of = open(r.cta);
  if (r.code.kind == Kind::End) {
    close(of);
    open_.erase(r.cta);
    last_ = nullptr;
    return;
  }
  if (r.warp >= of.trace.warps.size()) return;
  WarpTrace& warp = of.trace.warps[r.warp];
  if (r.code.kind == Kind::Block) {
    const u32 block = program_.block_of_site(r.site);
    if (block != sass::Program::kNone && r.lanes) warp.path.push_back({block, r.lanes});
  } else {
    const bool looks = r.code.kind == Kind::Sync && static_cast<probe::SyncOp>(r.code.bytes) == probe::SyncOp::Wait;
    if (looks && warp.look.site == r.site) warp.path.resize(warp.look.path), warp.accesses.resize(warp.look.accesses);
    const bool in_vain = looks && !(r.second >> 32);
    warp.look = {in_vain ? r.site : probe::kNoSite, warp.path.size(), warp.accesses.size()};
    if (!of.wanted || !r.lanes) return;
    warp.accesses.insert(warp.accesses.end(), begin, end);
    warp.accesses.push_back(std::bit_cast<u32>(cost));
    words_ += static_cast<u64>(end - begin) + 1;
  }
}

std::size_t Traces::progress(const probe::Record& r) {
  const Open& of = open(r.cta);
  return r.warp < of.trace.warps.size() ? of.trace.warps[r.warp].path.size() : 0;
}

double Traces::statements_of(const WarpTrace& w) const {
  double all = 0;
  for (const sass::PathStep& s : w.path) all += program_.blocks()[s.block].end - program_.blocks()[s.block].first;
  return all;
}

std::vector<CtaWork> Traces::work(const std::vector<double>& instructions) const {
  std::vector<double> statements(paths_.size());
  for (const auto& [hash, path] : paths_) statements[path.number] = path.statements;
  double known = 0, theirs = 0;
  for (std::size_t k = 0; k < instructions.size() && k < statements.size(); ++k)
    if (instructions[k] > 0) known += instructions[k], theirs += statements[k];
  const double each = theirs > 0 ? known / theirs : 1;
  std::vector<CtaWork> out;
  for (const Cta& c : ctas_) {
    CtaWork w{.cta = c.number};
    double all = 0;
    for (u32 k = c.begin; k < c.end; ++k) {
      const u32 path = numbers_[k];
      const bool is_known = path < instructions.size() && instructions[path] > 0;
      const double mine = is_known ? instructions[path] : statements[path] * each;
      w.most = std::max(w.most, static_cast<float>(mine)), all += mine;
    }
    w.average = static_cast<float>(all / std::max(1u, c.end - c.begin));
    out.push_back(w);
  }
  return out;
}

void Traces::close(Open& of) {
  Cta cta{of.trace.cta, static_cast<u32>(numbers_.size()), 0};
  for (const WarpTrace& w : of.trace.warps) {
    if (w.path.empty()) continue;
    Path& p = paths_[hash_of(w.path)];
    if (!p.warps) {
      p.number = static_cast<u32>(paths_.size()) - 1, p.statements = statements_of(w);
      if (steps_ + w.path.size() <= kMostSteps) p.steps = w.path, steps_ += w.path.size();
    }
    left_out_ += p.steps.empty();
    ++p.warps;
    numbers_.push_back(p.number);
  }
  cta.end = static_cast<u32>(numbers_.size());
  ctas_.push_back(cta);
  if (of.wanted) kept_.push_back(std::move(of.trace));
}

void Traces::finish() {
  for (auto& [cta, of] : open_) close(of);
  open_.clear();
  last_ = nullptr;
}

}  // namespace us::timing
