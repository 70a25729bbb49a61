// SPDX-License-Identifier: Apache-2.0
// The report as JUnit's XML: for each kernel a test case per tool without findings, and one per check with findings.
// Errors are failures; warnings and notes are told in the output of a case that passes.
#include <map>
#include <set>

#include <fmt/format.h>

#include "tools/check/report.h"
#include "tools/check/request.h"
#include "tools/junit.h"

namespace us::tools {
namespace {

struct Case {
  u64 errors = 0;
  std::string text;
};
using Cases = std::map<std::pair<std::string, std::string>, Case>;  // kernel, name

void add(Cases& cases, std::map<std::string, std::set<std::string>>& touched, const CheckReport::Entry& e) {
  const sanitizer::Finding& f = e.finding;
  const auto& row = sanitizer::info(f.check);
  const std::string kernel = f.kernel.empty() ? "host" : f.kernel;
  Case& c = cases[{kernel, row.name}];
  touched[kernel].insert(tool_of(f.check));
  c.errors += e.severity == sanitizer::Severity::Error;
  c.text += fmt::format("{}: {}\n{}\n", name_of(e.severity), row.sentence, f.object);
  for (const sanitizer::Party& p : f.parties) c.text += fmt::format("{} {} {}\n", p.action, place_of(p.site), p.who);
  for (const std::string& why : f.why) c.text += why + "\n";
  if (!f.fix.empty()) c.text += "Fix: " + f.fix + "\n";
}

}  // namespace

std::string to_junit(const CheckReport& r, const std::string& program) {
  Cases cases;
  std::map<std::string, std::set<std::string>> touched;  // tools with findings, by kernel
  for (const CheckReport::Entry& e : r.entries)
    if (!e.by) add(cases, touched, e);
  touched["host"];
  for (const auto& [kernel, launches] : r.judged) touched[kernel];
  for (const auto& [kernel, tools] : touched)
    for (const char* tool : {"memcheck", "racecheck", "initcheck", "synccheck"})
      if (!tools.contains(tool) && (kernel != "host" || std::string_view(tool) == "memcheck")) cases[{kernel, tool}];
  std::vector<JunitCase> out;
  for (const auto& [key, c] : cases)
    out.push_back(
        {key.first, key.second, c.errors ? fmt::format("{} error{}", c.errors, c.errors == 1 ? "" : "s") : "", c.text});
  return to_junit("understudy check " + program, out);
}

}  // namespace us::tools
