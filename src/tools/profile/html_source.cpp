// SPDX-License-Identifier: Apache-2.0
// The source view of the HTML report: program, PTX and machine code beside each other.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tools/junit.h"
#include "tools/profile/html.h"
#include "tools/profile/source_view.h"

namespace us::tools {
namespace {

std::string some(u64 n) { return n ? number_text(static_cast<double>(n)) : ""; }

class Tables {
 public:
  explicit Tables(const SourceView& v) : v_(v) {
    for (const auto& m : v.sass) stalled_ += m.costs.stalled();
    for (const auto& m : v.sass) most_ = std::max(most_, m.costs.stalled());
    for (const auto& l : v.cuda) most_line_ = std::max(most_line_, l.costs.stalled());
    for (const auto& l : v.ptx) most_line_ = std::max(most_line_, l.costs.stalled());
  }

  std::string all() const {
    return "<div class=\"source\">" + lines("CUDA", v_.cuda, 'c') + (v_.ptx.empty() ? "" : lines("PTX", v_.ptx, 'p')) +
           (v_.sass.empty() ? "" : machine()) + "</div>\n";
  }

 private:
  static std::string head(const char* title) {
    return fmt::format(
        "<div><table><tr><th>executed</th><th>stalls</th><th>sectors</th><th>wavefronts</th><th class=\"name\">{}</th>"
        "</tr>\n",
        title);
  }
  // The costs come first: texts may be longer than their view is wide.
  std::string row(const std::string& links, const SourceCosts& c, u64 most, const std::string& text) const {
    std::string reasons;
    for (u32 k = 0; k < timing::kStalls; ++k)
      if (c.stalls[k]) reasons += fmt::format("{} {}\n", name_of(static_cast<timing::Stall>(k)), c.stalls[k]);
    const u64 stalled = c.stalled();
    const double part = most ? 100.0 * static_cast<double>(stalled) / static_cast<double>(most) : 0;
    const std::string share =
        stalled ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(stalled) / static_cast<double>(stalled_)) : "";
    return fmt::format(
        "<tr data-of=\"{}\"><td>{}</td><td class=\"heat\" style=\"--part:{:.0f}%\" title=\"{}\">{}</td>"
        "<td title=\"{} would do\">{}</td><td title=\"{} would do\">{}</td><td class=\"name\">{}</td></tr>\n",
        links, some(v_.sass.empty() ? c.ptx.warps : c.warps), part, reasons, share, c.global.ideal_sectors,
        some(c.global.sectors), c.shared.ideal_wavefronts, some(c.shared.wavefronts), xml_escaped(text));
  }

  // Rows that belong together share a word: c and the row of the program, p and that of the PTX.
  std::string lines(const char* title, const std::vector<SourceView::Line>& rows, char kind) const {
    std::string s = head(title);
    for (u32 k = 0; k < rows.size(); ++k) {
      std::set<std::string> links{fmt::format("{}{}", kind, k)};
      for (const u32 i : rows[k].sass) {
        if (v_.sass[i].cuda != SourceView::kNone) links.insert(fmt::format("c{}", v_.sass[i].cuda));
        if (kind == 'p' && v_.sass[i].ptx != SourceView::kNone) links.insert(fmt::format("p{}", v_.sass[i].ptx));
      }
      if (kind == 'c') links = {fmt::format("c{}", k)};
      s += row(fmt::format("{}", fmt::join(links, " ")), rows[k].costs, most_line_,
               short_place(rows[k]) + "  " + rows[k].text);
    }
    return s + "</table></div>\n";
  }
  std::string machine() const {
    std::string s = head("SASS");
    for (const SourceView::Machine& m : v_.sass) {
      std::string links;
      if (m.cuda != SourceView::kNone) links += fmt::format("c{} ", m.cuda);
      if (m.ptx != SourceView::kNone) links += fmt::format("p{}", m.ptx);
      s += row(links, m.costs, most_, fmt::format("{:04x}  {}", m.instruction.offset, m.instruction.text()));
    }
    return s + "</table></div>\n";
  }

  const SourceView& v_;
  u64 stalled_ = 0, most_ = 0, most_line_ = 0;
};

}  // namespace

std::string source_html(const timing::LaunchProfile& p, SourceLines& sources) {
  return Tables(source_view(p, sources)).all();
}

}  // namespace us::tools
