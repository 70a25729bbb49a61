// SPDX-License-Identifier: Apache-2.0
// The report as SARIF 2.1.0: one code flow for each party, from the outermost call to the place.
#include <cctype>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/version.h"
#include "tools/check/report.h"

namespace us::tools {
namespace {

using sanitizer::Finding;
using sanitizer::Party;
using sanitizer::Severity;

constexpr u32 kRules = static_cast<u32>(sanitizer::Check::Count);

// Letters that a URI may hold as they are.
std::string uri_of(const std::string& file) {
  std::string out = file.starts_with("/") ? "file://" : "";
  for (const char c : file) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<u8>(c));
  }
  return out;
}

void location(JsonWriter& w, const probe::Frame& f, const std::string& message) {
  w.object();
  if (!f.file.empty()) {
    w.key("physicalLocation").object().key("artifactLocation").object().field("uri", uri_of(shown_file(f.file))).end();
    if (f.line) w.key("region").object().field("startLine", f.line);
    if (f.line && f.column) w.field("startColumn", f.column);
    if (f.line) w.end();
    w.end();
  }
  if (!f.function.empty())
    w.key("logicalLocations")
        .array()
        .object()
        .field("fullyQualifiedName", f.function)
        .field("kind", "function")
        .end()
        .end();
  if (!message.empty()) w.key("message").object().field("text", message).end();
  w.end();
}

std::string said(const Party& p) {
  std::string text = p.action;
  if (!p.who.empty()) text += " by " + p.who;
  if (p.others) text += fmt::format(" and {} more", p.others);
  return p.site.text.empty() ? text : text + ": " + p.site.text;
}

const probe::Frame& own_place(const Party& p) { return p.site.frames[sanitizer::own_frame(p.site)]; }

void flow(JsonWriter& w, const Party& p) {
  w.object().key("threadFlows").array().object().field("id", p.who).key("locations").array();
  const auto& frames = p.site.frames;
  for (std::size_t i = frames.size(); i-- > 0;) {
    w.object().field("nestingLevel", frames.size() - 1 - i).key("location");
    location(w, frames[i], i == 0 ? said(p) : "");
    w.end();
  }
  w.end().end().end().end();
}

std::string message_of(const Finding& f) {
  std::string text = fmt::format("{}. ", sanitizer::info(f.check).sentence);
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  if (!f.object.empty()) text += f.object + ". ";
  if (!f.kernel.empty()) text += "Kernel " + f.kernel + ". ";
  for (const Party& p : f.parties) text += fmt::format("{} at {}. ", said(p), place_of(p.site));
  for (const std::string& why : f.why) text += why + " ";
  return f.fix.empty() ? text : text + "Fix: " + f.fix;
}

void result(JsonWriter& w, const CheckReport::Entry& e) {
  const Finding& f = e.finding;
  w.object().field("ruleId", sanitizer::info(f.check).name).field("ruleIndex", static_cast<u32>(f.check));
  w.field("level", name_of(e.severity)).field("occurrenceCount", f.times);
  w.key("message").object().field("text", message_of(f)).end();
  std::vector<const Party*> placed;
  for (const Party& p : f.parties)
    if (!p.site.frames.empty()) placed.push_back(&p);
  w.key("locations").array();
  if (!placed.empty()) location(w, own_place(*placed.front()), said(*placed.front()));
  w.end();
  if (placed.size() > 1) {
    w.key("relatedLocations").array();
    for (std::size_t i = 1; i < placed.size(); ++i) location(w, own_place(*placed[i]), said(*placed[i]));
    w.end();
  }
  if (!placed.empty()) {
    w.key("codeFlows").array();
    for (const Party* p : placed) flow(w, *p);
    w.end();
  }
  Hash h;
  h.text(sanitizer::key_of(f));
  w.key("partialFingerprints").object().field("sites/v1", fmt::format("{:016x}", h.a)).end();
  w.key("properties").object().field("seed", f.seed).end();
  if (e.by)
    w.key("suppressions").array().object().field("kind", "external").field("justification", e.by->reason).end().end();
  w.end();
}

}  // namespace

std::string to_sarif(const CheckReport& r) {
  JsonWriter w;
  w.object().field("version", "2.1.0").field("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  w.key("runs").array().object().key("tool").object().key("driver").object();
  w.field("name", "understudy check").field("version", kVersionText).key("rules").array();
  for (u32 i = 0; i < kRules; ++i) {
    const auto& row = sanitizer::info(static_cast<sanitizer::Check>(i));
    w.object().field("id", row.name).key("shortDescription").object().field("text", row.sentence).end();
    w.key("defaultConfiguration").object().field("level", name_of(row.severity)).end().end();
  }
  w.end().end().end().key("results").array();
  for (const CheckReport::Entry& e : r.entries) result(w, e);
  w.end().end().end().end();
  return w.text() + "\n";
}

}  // namespace us::tools
