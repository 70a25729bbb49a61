// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/source_view.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace us::tools {
namespace {

using timing::Listing;
using Place = std::pair<std::string, u32>;

std::string plain_path(const std::string& file) { return std::filesystem::path(file).lexically_normal(); }

// Part `k` of `n`, of parts that weigh so much; the parts of all k are n together.
u64 share(u64 n, const std::vector<u64>& weights, std::size_t k) {
  const u64 all = std::accumulate(weights.begin(), weights.end(), u64{0});
  if (!all) return k == 0 ? n : 0;
  const u64 before = std::accumulate(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(k), u64{0});
  const auto up_to = [&](u64 weight) { return static_cast<u64>(static_cast<unsigned __int128>(n) * weight / all); };
  return up_to(before + weights[k]) - up_to(before);
}

bool does(const sass::Instruction& i, const timing::SiteProfile& s) {
  using enum sass::Memory::Space;
  const auto space = i.memory.space;
  return space == Generic || (s.global.requests && space == Global) || (s.shared.requests && space == Shared) ||
         (s.kind == timing::AccessKind::Copy && i.name.starts_with("LDGSTS"));
}

class Maker {
 public:
  Maker(const timing::LaunchProfile& p, SourceLines& sources) : p_(p), sources_(sources) {}

  SourceView run() {
    if (p_.listing) add_machine(*p_.listing);
    for (const timing::SiteProfile& s : p_.sites) add(s);
    sort_program();
    return std::move(out_);
  }

 private:
  u32 cuda_row(const std::string& file, u32 line) {
    const auto [it, fresh] = cuda_.try_emplace({plain_path(file), line}, static_cast<u32>(out_.cuda.size()));
    if (fresh) out_.cuda.push_back({it->first.first, line, sources_.line(file, line), {}});
    return it->second;
  }
  u32 line_of_program(const probe::SiteInfo& s) {
    if (s.frames.empty() || s.frames[0].file.empty()) return cuda_row("PTX", s.ptx_line);
    return cuda_row(s.frames[0].file, s.frames[0].line);
  }

  void add_machine(const Listing& l) {
    std::map<u32, u32> row_of;  // lines of the PTX
    for (const Listing::Statement& s : l.statements) {
      const auto [it, fresh] = row_of.try_emplace(s.line, static_cast<u32>(out_.ptx.size()));
      if (fresh) out_.ptx.push_back({"", s.line, s.text, {}});
      row_of_site_[s.site] = it->second;
    }
    for (u32 k = 0; k < l.instructions.size(); ++k) {
      const Listing::Instruction& i = l.instructions[k];
      SourceView::Machine m{sass::decode(i.word, k * 16), SourceView::kNone, SourceView::kNone, {}};
      m.costs.warps = p_.machine[k].warps, m.costs.lanes = p_.machine[k].lanes;
      std::ranges::copy(p_.machine[k].stalls, m.costs.stalls);
      if (const auto it = row_of.find(i.ptx_line); it != row_of.end()) m.ptx = it->second;
      if (i.place != Listing::kNone) m.cuda = cuda_row(l.places[i.place].file, l.places[i.place].line);
      if (m.ptx != SourceView::kNone) out_.ptx[m.ptx].costs += m.costs, out_.ptx[m.ptx].sass.push_back(k);
      if (m.cuda != SourceView::kNone) out_.cuda[m.cuda].costs += m.costs, out_.cuda[m.cuda].sass.push_back(k);
      if (i.statement != Listing::kNone) of_site_[l.statements[i.statement].site].push_back(k);
      out_.sass.push_back(std::move(m));
    }
  }

  void add(const timing::SiteProfile& s) {
    SourceCosts c;
    c.ptx = s.executed, c.global = s.global, c.shared = s.shared;
    out_.cuda[line_of_program(s.at)].costs += c;
    const auto [row, fresh] = row_of_site_.try_emplace(s.site, static_cast<u32>(out_.ptx.size()));
    if (fresh) out_.ptx.push_back({"", s.at.ptx_line, s.at.text, {}});
    out_.ptx[row->second].costs += c;
    share_out(s);
  }

  void share_out(const timing::SiteProfile& s) {
    if (!s.global.requests && !s.shared.requests) return;
    std::vector<u32> doers;
    for (const u32 k : of_site_[s.site])
      if (does(out_.sass[k].instruction, s)) doers.push_back(k);
    std::vector<u64> weights;
    for (const u32 k : doers) weights.push_back(out_.sass[k].costs.warps);
    for (std::size_t k = 0; k < doers.size(); ++k) {
      const auto part = [&](u64 n) { return share(n, weights, k); };
      SourceCosts& to = out_.sass[doers[k]].costs;
      to.global +=
          {part(s.global.requests), part(s.global.sectors), part(s.global.ideal_sectors), part(s.global.lines)};
      to.shared +=
          {part(s.shared.requests), part(s.shared.wavefronts), part(s.shared.passes), part(s.shared.ideal_wavefronts)};
    }
  }

  // By file and line.
  void sort_program() {
    std::vector<SourceView::Line> sorted;
    std::vector<u32> now(out_.cuda.size());
    for (const auto& [place, row] : cuda_) {
      now[row] = static_cast<u32>(sorted.size());
      sorted.push_back(std::move(out_.cuda[row]));
    }
    out_.cuda = std::move(sorted);
    for (SourceView::Machine& m : out_.sass)
      if (m.cuda != SourceView::kNone) m.cuda = now[m.cuda];
  }

  const timing::LaunchProfile& p_;
  SourceView out_;
  SourceLines& sources_;
  std::map<Place, u32> cuda_;
  std::map<u32, u32> row_of_site_;
  std::map<u32, std::vector<u32>> of_site_;  // machine instructions
};

}  // namespace

u64 SourceCosts::stalled() const { return std::accumulate(std::begin(stalls), std::end(stalls), u64{0}); }

timing::Stall SourceCosts::most() const {
  return static_cast<timing::Stall>(std::max_element(std::begin(stalls), std::end(stalls)) - std::begin(stalls));
}

SourceCosts& SourceCosts::operator+=(const SourceCosts& c) {
  ptx += c.ptx;
  warps += c.warps, lanes += c.lanes;
  global += c.global, shared += c.shared;
  for (u32 k = 0; k < timing::kStalls; ++k) stalls[k] += c.stalls[k];
  return *this;
}

SourceView source_view(const timing::LaunchProfile& p, SourceLines& sources) { return Maker(p, sources).run(); }

std::string short_place(const SourceView::Line& l) {
  return l.file.empty() ? fmt::format("{}", l.line)
                        : fmt::format("{}:{}", std::filesystem::path(l.file).filename().string(), l.line);
}

}  // namespace us::tools
