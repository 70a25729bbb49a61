// SPDX-License-Identifier: Apache-2.0
// The source page: lines of the program, statements of the PTX or machine instructions, with what each costs.
#include <map>

#include <fmt/format.h>

#include "tools/profile/report.h"
#include "tools/profile/source_view.h"

namespace us::tools {
namespace {

using timing::kStalls, timing::Stall;

std::string some(u64 n) { return n ? number_text(static_cast<double>(n)) : ""; }
std::string excess(u64 is, u64 ideal) {
  return is ? fmt::format("{:.1f}", static_cast<double>(is) / static_cast<double>(std::max<u64>(ideal, 1))) : "";
}
double ratio(u64 a, u64 b) { return b ? static_cast<double>(a) / static_cast<double>(b) : 0; }

// What stands in front of a row's own text; of memory only what the launch has.
class Columns {
 public:
  explicit Columns(const SourceView& v) : machine_(!v.sass.empty()) {
    for (const auto& m : v.sass) stalled_ += m.costs.stalled();
    for (const auto& l : v.cuda) global_ |= l.costs.global.requests != 0, shared_ |= l.costs.shared.requests != 0;
  }
  std::string head() const {
    return fmt::format("{:>14} {:>6}", machine_ ? "warp instr." : "PTX warp instr", "lanes") +
           (stalled_ ? fmt::format(" {:>13} {:>5} {:<17}", "stall cycles", "%", " most of them") : "") +
           (global_ ? fmt::format(" {:>12} {:>6}", "sectors", "/ideal") : "") +
           (shared_ ? fmt::format(" {:>12} {:>6} {:>10}", "wavefronts", "/ideal", "conflicts") : "");
  }
  std::string of(const SourceCosts& c) const {
    const u64 warps = machine_ ? c.warps : c.ptx.warps, lanes = machine_ ? c.lanes : c.ptx.lanes;
    std::string s = fmt::format("{:>14} {:>6}", some(warps), warps ? fmt::format("{:.2f}", ratio(lanes, warps)) : "");
    if (const u64 n = c.stalled(); stalled_)
      s += fmt::format(" {:>13} {:>5} {:<17}", some(n), n ? fmt::format("{:.1f}", 100 * ratio(n, stalled_)) : "",
                       n ? " " + std::string(name_of(c.most())) : "");
    if (global_)
      s += fmt::format(" {:>12} {:>6}", some(c.global.sectors), excess(c.global.sectors, c.global.ideal_sectors));
    if (shared_)
      s += fmt::format(" {:>12} {:>6} {:>10}", some(c.shared.wavefronts),
                       excess(c.shared.wavefronts, c.shared.ideal_wavefronts), some(c.shared.conflicts()));
    return s;
  }

 private:
  const bool machine_;  // else the instructions of the PTX are told
  u64 stalled_ = 0;
  bool global_ = false, shared_ = false;
};

std::string with_text(const SourceView::Line& l) { return short_place(l) + (l.text.empty() ? "" : "  " + l.text); }

constexpr const char* kWithoutLine = "(without a line)";

// Machine instructions that have no row in the view.
SourceCosts without_line(const SourceView& v, const std::string& view) {
  SourceCosts c;
  for (const auto& m : v.sass)
    if ((view == "ptx" ? m.ptx : m.cuda) == SourceView::kNone) c += m.costs;
  return c;
}

class Page {
 public:
  explicit Page(const SourceView& v) : v_(v), columns_(v), end_(v.sass.size()) {
    while (end_ && v.sass[end_ - 1].instruction.name == "NOP") --end_;  // only fill the last line of code
  }

  std::string print(const std::string& what) const {
    if (what != "cuda" && v_.sass.empty()) return "    There is no machine code to show, nor its PTX.\n\n";
    if (what == "sass") return instructions();
    std::string s = fmt::format("    {}  line\n", columns_.head());
    for (const auto& l : what == "ptx" ? v_.ptx : v_.cuda) {
      s += fmt::format("    {}  {}\n", columns_.of(l.costs), with_text(l));
      if (what == "cuda,sass") s += below(l);
    }
    if (const SourceCosts c = without_line(v_, what); c.warps)
      s += fmt::format("    {}  {}\n", columns_.of(c), kWithoutLine);
    return s + "\n";
  }

 private:
  std::string instructions() const {
    std::string s = fmt::format("    address {}  instruction\n", columns_.head());
    for (u32 k = 0; k < end_; ++k) {
      const SourceView::Machine& m = v_.sass[k];
      const std::string where = m.cuda == SourceView::kNone ? "" : "  // " + short_place(v_.cuda[m.cuda]);
      s += fmt::format("    {:>7} {}  {}{}\n", fmt::format("{:04x}", m.instruction.offset), columns_.of(m.costs),
                       m.instruction.text(), where);
    }
    return s + "\n";
  }
  std::string below(const SourceView::Line& l) const {
    std::string s;
    for (const u32 k : l.sass)
      if (const SourceView::Machine& m = v_.sass[k]; k < end_)
        s += fmt::format("    {}      {:04x} {}\n", columns_.of(m.costs), m.instruction.offset, m.instruction.text());
    return s;
  }

  const SourceView& v_;
  const Columns columns_;
  std::size_t end_;
};

std::string plain(u64 n) { return fmt::format("{}", n); }

std::vector<std::string> cells_of(const SourceCosts& c, bool ptx) {
  std::vector<std::string> out = {plain(c.stalled()), plain(c.warps), plain(c.lanes),
                                  fmt::format("{:.2f}", ratio(c.lanes, c.warps))};
  if (ptx) out.push_back(plain(c.ptx.warps)), out.push_back(plain(c.ptx.lanes));
  const u64 ideal = c.global.ideal_sectors, ideal_shared = c.shared.ideal_wavefronts;
  for (const u64 n : {c.global.lines, c.global.sectors, ideal, c.global.sectors - ideal, c.shared.wavefronts,
                      ideal_shared, c.shared.wavefronts - ideal_shared, c.shared.conflicts()})
    out.push_back(plain(n));
  for (const u64 n : c.stalls) out.push_back(plain(n));
  return out;
}

std::vector<std::string> names_of_cells(bool ptx) {
  std::vector<std::string> out = {"Warp Stall Cycles", "Instructions Executed", "Thread Instructions Executed",
                                  "Avg. Threads Executed"};
  if (ptx) out.push_back("PTX Instructions Executed"), out.push_back("Thread PTX Instructions Executed");
  for (const char* n :
       {"L1 Tag Requests Global", "L2 Theoretical Sectors Global", "L2 Theoretical Sectors Global Ideal",
        "L2 Theoretical Sectors Global Excessive", "L1 Wavefronts Shared", "L1 Wavefronts Shared Ideal",
        "L1 Wavefronts Shared Excessive", "Shared Bank Conflicts"})
    out.push_back(n);
  for (u32 k = 0; k < kStalls; ++k) out.push_back("stall_" + std::string(short_name_of(static_cast<Stall>(k))));
  return out;
}

std::string csv_row(std::vector<std::string> first, const std::vector<std::string>& cells) {
  first.insert(first.end(), cells.begin(), cells.end());
  return csv_line(first);
}

std::string csv_of(const SourceView& v, const std::string& what) {
  std::string s;
  if (what == "sass") {
    s = csv_row({"Address", "Source"}, names_of_cells(false));
    for (const auto& m : v.sass)
      s += csv_row({fmt::format("0x{:x}", m.instruction.offset), m.instruction.text()}, cells_of(m.costs, false));
    return s;
  }
  s = csv_row({"File", "Line", "Source"}, names_of_cells(true));
  for (const auto& l : what == "ptx" ? v.ptx : v.cuda)
    s += csv_row({l.file, fmt::format("{}", l.line), l.text}, cells_of(l.costs, true));
  if (const SourceCosts c = without_line(v, what); c.warps) s += csv_row({"", "", kWithoutLine}, cells_of(c, true));
  return s;
}

}  // namespace

namespace {

// Of launches that have places; and how many others there are, by kernel.
template <class F>
void each_detailed(const std::vector<ReportLaunch>& all, F&& f) {
  for (const ReportLaunch& l : all)
    if (l.of->detailed) f(l);
}

}  // namespace

std::string without_detail(const std::vector<ReportLaunch>& all) {
  std::map<std::string, std::size_t> more;
  for (const ReportLaunch& l : all) more[l.of->kernel] += !l.of->detailed;
  std::string s;
  for (const auto& [kernel, n] : more)
    if (n)
      s += fmt::format("  {} more launches of {}: their metrics are kept, their lines and instructions are not.\n", n,
                       kernel);
  return s;
}

void source_text(const std::vector<ReportLaunch>& all, const std::string& print, const Sink& out) {
  SourceLines sources;
  each_detailed(all, [&](const ReportLaunch& l) {
    std::string s = head_of(l);
    if (!l.of->no_time.empty()) s += fmt::format("    No model of time: {}\n", l.of->no_time);
    if (l.of->listing) s += fmt::format("    Machine code made by {}\n", l.of->listing->origin);
    out(s + Page(source_view(*l.of, sources)).print(print));
  });
  out(without_detail(all));
}

void source_csv(const std::vector<ReportLaunch>& all, const std::string& print, const Sink& out) {
  SourceLines sources;
  each_detailed(all, [&](const ReportLaunch& l) {
    out(csv_line({"Kernel Name", l.of->kernel}) + csv_of(source_view(*l.of, sources), print));
  });
}

}  // namespace us::tools
