// SPDX-License-Identifier: Apache-2.0
// The report for people.
#include <algorithm>

#include <fmt/format.h>

#include "tools/check/report.h"
#include "tools/terminal.h"

namespace us::tools {
namespace {

using sanitizer::Finding;
using sanitizer::Party;
using sanitizer::Severity;

constexpr std::size_t kMostFrames = 8;

Style style_of(Severity s) {
  return s == Severity::Error ? Style::Red : s == Severity::Warning ? Style::Yellow : Style::Plain;
}

std::string grouped(u64 n) {
  const std::string digits = std::to_string(n);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % 3 == 0) out += ' ';
    out += digits[i];
  }
  return out;
}

std::string counted(u64 n, const char* one, const char* more = "s") {
  return fmt::format("{} {}{}", grouped(n), one, n == 1 ? "" : more);
}

// The place stands in the program's own frame; those further in are of the toolkit, those further out called it. On the
// device all of them are inlined in the last.
void append_frames(std::string& out, const Finding& f, const Party& p, std::size_t indent) {
  const auto& frames = p.site.frames;
  const std::size_t own = sanitizer::own_frame(p.site);
  if (!frames.empty())
    if (const std::string source = source_line(frames[own]); !source.empty())
      out += fmt::format("{:>{}} | {}\n", frames[own].line, indent + 2, source);
  if (own) out += fmt::format("{:{}}inside {}\n", "", indent, place_of(frames.front()));
  const char* const how = f.kernel.empty() || p.site.text.empty() ? "called at" : "inlined at";
  for (std::size_t i = own + 1; i < frames.size() && i < own + kMostFrames; ++i)
    out += fmt::format("{:{}}{} {}\n", "", indent, how, place_of(frames[i]));
}

void append_party(std::string& out, const Finding& f, const Party& p, std::size_t width) {
  std::string line = fmt::format("  {:<{}}  {}", p.action, width, place_of(p.site));
  if (!p.who.empty()) line += "    " + p.who;
  if (p.others) line += fmt::format(" and {} more", grouped(p.others));
  if (!p.site.text.empty()) line += "    " + p.site.text;
  out += line + "\n";
  append_frames(out, f, p, width + 4);
}

void append(std::string& out, const CheckReport::Entry& e) {
  const Finding& f = e.finding;
  const auto& row = sanitizer::info(f.check);
  out += fmt::format("{} {} [{}]\n", styled(stderr, style_of(e.severity), fmt::format("{}:", name_of(e.severity))),
                     styled(stderr, Style::Bold, row.sentence), row.name);
  if (!f.object.empty() || !f.kernel.empty())
    out += fmt::format("  {}{}{}\n", f.object, f.object.empty() || f.kernel.empty() ? "" : "; ",
                       f.kernel.empty() ? "" : "kernel " + f.kernel);
  std::size_t width = 0;
  for (const Party& p : f.parties) width = std::max(width, p.action.size());
  for (const Party& p : f.parties) append_party(out, f, p, width);
  for (const std::string& w : f.why) out += "  " + w + "\n";
  if (!f.fix.empty()) out += fmt::format("  {} {}\n", styled(stderr, Style::Green, "Fix:"), f.fix);
  if (f.seed) out += fmt::format("  Schedule {}; to see it again: understudy check --seed {}\n", f.seed, f.seed);
  if (f.times > 1) {
    out += fmt::format("  {}", counted(f.times, "time"));
    if (f.blocks > 1 && !f.kernel.empty()) out += fmt::format(" in {}", counted(f.blocks, "block"));
    out += "\n";
  }
  out += "\n";
}

void append_summary(std::string& out, const CheckReport& r, const Suppressions& suppressions, u64 left_out) {
  const u64 errors = r.count(Severity::Error);
  std::string head = fmt::format("{}, {}, {}", counted(errors, "error"), counted(r.count(Severity::Warning), "warning"),
                                 counted(r.count(Severity::Note), "note"));
  if (r.suppressed) head += fmt::format("; {} suppressed", grouped(r.suppressed));
  if (left_out) head += fmt::format("; {} not shown (--print-limit)", grouped(left_out));
  out += fmt::format("{} {}\n", styled(stderr, errors ? Style::Red : Style::Green, "understudy:"), head);
  u64 launches = 0;
  for (const auto& [kernel, n] : r.judged) launches += n;
  out += fmt::format("  judged: {} of {}\n", counted(launches, "launch", "es"), counted(r.judged.size(), "kernel"));
  for (const sanitizer::NotJudged& n : r.not_judged)
    out += fmt::format("  not judged: {}: {}{}\n", n.what, n.why,
                       n.times > 1 ? fmt::format(" ({})", counted(n.times, "time")) : "");
  for (const std::string& p : r.unended)
    out += fmt::format("  {} did not come to its end: what is known only then (leaks) is not judged\n", p);
  if (r.processes == 0) out += "  no process used CUDA\n";
  for (const Suppression& s : suppressions.all())
    if (!s.used) out += fmt::format("  unused suppression: {}\n", s.origin);
}

}  // namespace

std::string to_text(const CheckReport& r, const Suppressions& suppressions, u64 limit) {
  std::string out;
  u64 shown = 0, left_out = 0;
  for (const CheckReport::Entry& e : r.entries) {
    if (e.by) continue;
    if (shown == limit) {
      ++left_out;
      continue;
    }
    ++shown;
    append(out, e);
  }
  append_summary(out, r, suppressions, left_out);
  return out;
}

}  // namespace us::tools
