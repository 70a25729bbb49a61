// SPDX-License-Identifier: Apache-2.0
#include "timing/traces.h"

#include <algorithm>
#include <bit>
#include <cstring>

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

static_assert(sizeof(sass::PathStep) == 8);  // nothing lies between its parts
bool same(const std::vector<sass::PathStep>& a, const std::vector<sass::PathStep>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

u64 place_of(const probe::Record& r) {
  Hash h;
  h.word(r.lanes);
  for (u32 left = r.lanes; left; left &= left - 1) h.word(r.address(static_cast<u32>(std::countr_zero(left))));
  return h.a;
}

// A look there, now, is the one before once more.
bool stands_for(const WarpTrace::Look& l, u32 site, u64 at) {
  return l.site == site && l.at == at && (!l.between || l.between == l.before);
}

}  // namespace

Traces::Open& Traces::other(u32 cta) {
  auto it = open_.find(cta);
  if (it == open_.end()) {
    if (spare_.empty()) {
      it = open_.try_emplace(cta).first;
      it->second.trace.warps.resize(warps_);
    } else {
      spare_.back().key() = cta;
      it = open_.insert(std::move(spare_.back())).position;
      spare_.pop_back();
    }
    it->second.trace.cta = cta;
    it->second.wanted = words_ < kMostWords && wanted_(cta);
  }
  last_cta_ = cta;
  return *(last_ = &it->second);
}

void Traces::end_cta(u32 cta) {
  Open& of = open(cta);
  close(of);
  auto node = open_.extract(cta);
  last_ = nullptr;
  if (of.wanted) return;
  for (WarpTrace& w : of.trace.warps) w.path.clear(), w.look = {};
  of.looked = false;
  spare_.push_back(std::move(node));
}

bool Traces::again(const probe::Record& r) {
  Open& of = open(r.cta);
  if (!r.code.looks || r.warp >= of.trace.warps.size()) return false;
  return stands_for(of.trace.warps[r.warp].look, r.site, place_of(r));
}

void Traces::add(const probe::Record& r, const u64* begin, const u64* end, TimedCost cost) {
  using Kind = probe::RecordCode::Kind;
  Open& of = open(r.cta);
  if (r.warp >= of.trace.warps.size()) return;
  WarpTrace& warp = of.trace.warps[r.warp];
  const bool awaits = r.code.kind == Kind::Sync && static_cast<probe::SyncOp>(r.code.bytes) == probe::SyncOp::Wait;
  const u64 at = r.code.looks ? place_of(r) : 0;
  if ((awaits || r.code.looks) && stands_for(warp.look, r.site, at))
    warp.path.resize(warp.look.path), warp.accesses.resize(warp.look.accesses);
  const bool again = r.code.looks || (awaits && !(r.second >> 32));  // perhaps
  of.looked |= again;
  if (again) {
    warp.look = {r.site, at, warp.path.size(), warp.accesses.size(), warp.look.between, 0};
  } else if (r.code.kind == Kind::Read && warp.look.site != probe::kNoSite) {
    Hash h;
    h.word(warp.look.between), h.word(r.site), h.word(place_of(r));
    warp.look.between = h.a | 1;
  } else {
    warp.look = {};
  }
  if (!of.wanted || !r.lanes) return;
  warp.accesses.insert(warp.accesses.end(), begin, end);
  warp.accesses.push_back(cost.pack());
  words_ += static_cast<u64>(end - begin) + 1;
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
  out.reserve(ctas_.size());
  for (const Cta& c : ctas_) {
    CtaWork w{.cta = c.number};
    double all = 0;
    for (u32 k = c.begin; k < c.end; ++k) {
      const u32 path = numbers_[k];
      const bool is_known = !partly_ && path < instructions.size() && instructions[path] > 0;
      const double mine = is_known ? instructions[path] : statements[path] * each;
      w.most = std::max(w.most, static_cast<float>(mine)), all += mine;
    }
    w.average = static_cast<float>(all / std::max(1u, c.end - c.begin));
    out.push_back(w);
  }
  return out;
}

// Mostly that of the same warp of the CTA before: comparing is cheaper than hashing.
Traces::Path& Traces::path_of(const WarpTrace& w, u32 warp) {
  usual_.resize(warps_);
  Path*& usual = usual_[warp];
  if (usual && same(usual->steps, w.path)) return *usual;
  Path& p = paths_[hash_of(w.path)];
  if (!p.warps) {
    p.number = static_cast<u32>(paths_.size()) - 1, p.statements = statements_of(w);
    if (steps_ + w.path.size() <= kMostSteps) p.steps = w.path, steps_ += w.path.size();
  }
  return *(usual = &p);
}

void Traces::close(Open& of) {
  Cta cta{of.trace.cta, static_cast<u32>(numbers_.size()), 0};
  for (u32 k = 0; k < of.trace.warps.size(); ++k) {
    const WarpTrace& w = of.trace.warps[k];
    if (w.path.empty()) continue;
    Path& p = path_of(w, k);
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
