// SPDX-License-Identifier: Apache-2.0
// The report as JSON; docs/check.md has the schema.
#include "base/json.h"
#include "base/version.h"
#include "tools/check/report.h"

namespace us::tools {
namespace {

void write(JsonWriter& w, const probe::Frame& f) {
  w.object().field("file", f.file).field("line", f.line).field("column", f.column).field("function", f.function).end();
}

void write(JsonWriter& w, const sanitizer::Party& p) {
  w.object().field("action", p.action).field("who", p.who).field("others", p.others).field("instruction", p.site.text);
  w.field("ptx_line", p.site.ptx_line).key("frames").array();
  for (const probe::Frame& f : p.site.frames) write(w, f);
  w.end().end();
}

void write(JsonWriter& w, const CheckReport::Entry& e) {
  const sanitizer::Finding& f = e.finding;
  w.object().field("check", sanitizer::info(f.check).name).field("severity", name_of(e.severity));
  w.field("sentence", sanitizer::info(f.check).sentence).field("launch", f.launch).field("kernel", f.kernel);
  w.field("object", f.object).key("parties").array();
  for (const sanitizer::Party& p : f.parties) write(w, p);
  w.end().key("why").array();
  for (const std::string& why : f.why) w.value(why);
  w.end().field("fix", f.fix).field("times", f.times).field("blocks", f.blocks).field("seed", f.seed);
  w.field("suppressed", e.by != nullptr).field("suppressed_by", e.by ? e.by->origin : std::string()).end();
}

}  // namespace

std::string to_json(const CheckReport& r, const Suppressions& suppressions) {
  using sanitizer::Severity;
  JsonWriter w;
  w.object().field("schema", "understudy-check-1").field("understudy", kVersionText);
  w.field("errors", r.count(Severity::Error)).field("warnings", r.count(Severity::Warning));
  w.field("notes", r.count(Severity::Note)).field("suppressed", r.suppressed).field("processes", r.processes);
  w.key("findings").array();
  for (const CheckReport::Entry& e : r.entries) write(w, e);
  w.end().key("judged").array();
  for (const auto& [kernel, launches] : r.judged) w.object().field("kernel", kernel).field("launches", launches).end();
  w.end().key("not_judged").array();
  for (const sanitizer::NotJudged& n : r.not_judged)
    w.object().field("what", n.what).field("why", n.why).field("times", n.times).end();
  w.end().key("unended_processes").array();
  for (const std::string& p : r.unended) w.value(p);
  w.end().key("unused_suppressions").array();
  for (const Suppression& s : suppressions.all())
    if (!s.used) w.value(s.origin);
  w.end().end();
  return w.text() + "\n";
}

}  // namespace us::tools
