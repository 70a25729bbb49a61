// SPDX-License-Identifier: Apache-2.0
#include "timing/traces.h"

#include <algorithm>

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

void Traces::add(const probe::Record& r, const u64* begin, const u64* end) {
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
    words_ += static_cast<u64>(end - begin);
  }
}

CtaWork Traces::work_of(const CtaTrace& c) const {
  CtaWork w{.cta = c.cta};
  double all = 0;
  for (const WarpTrace& warp : c.warps) {
    u64 statements = 0;
    for (const sass::PathStep& s : warp.path) {
      const sass::Program::Block& b = program_.blocks()[s.block];
      statements += b.end - b.first;
    }
    w.most = std::max(w.most, static_cast<float>(statements)), all += static_cast<double>(statements);
  }
  w.average = static_cast<float>(all / std::max<double>(1, static_cast<double>(c.warps.size())));
  return w;
}

void Traces::close(Open& of) {
  work_.push_back(work_of(of.trace));
  for (const WarpTrace& w : of.trace.warps) {
    if (w.path.empty()) continue;
    Path& p = paths_[hash_of(w.path)];
    if (!p.warps) {
      if (steps_ + w.path.size() > kMostSteps) {
        ++left_out_;
        continue;
      }
      p.steps = w.path;
      steps_ += w.path.size();
    }
    ++p.warps;
  }
  if (of.wanted) kept_.push_back(std::move(of.trace));
}

void Traces::finish() {
  for (auto& [cta, of] : open_) close(of);
  open_.clear();
  last_ = nullptr;
}

}  // namespace us::timing
