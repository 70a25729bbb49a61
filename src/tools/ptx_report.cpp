// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "driver/preset.h"
#include "ptx/ptx.h"
#include "tools/exit_codes.h"
#include "tools/ptx_facts.h"
#include "tools/run.h"
#include "tools/terminal.h"

namespace us::tools {
namespace {

u32 total(const std::map<std::string, u32>& counts) {
  u32 n = 0;
  for (const auto& [name, count] : counts) n += count;
  return n;
}

std::string position(const Diag& d) {
  return d.loc.line ? fmt::format("{}:{}: ", d.loc.line, d.loc.col) : std::string();
}

void line(std::string_view name, std::string_view value) {
  if (!value.empty()) fmt::print("    {:<14} {}\n", name, value);
}

std::string counted(u32 n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string parameters_of(const FunctionFacts& f) {
  std::string out = fmt::format("{} bytes", f.parameter_bytes);
  for (const auto& p : f.parameters)
    out += fmt::format("{} {} ({} bytes)", &p == &f.parameters.front() ? ":" : ",", p.type, p.bytes);
  return out;
}

void print_kernel(const FunctionFacts& f) {
  fmt::print("  {} {}\n", styled(stdout, Style::Bold, "kernel"), f.readable);
  if (f.readable != f.name) line("name", f.name);
  line("parameters", parameters_of(f));
  if (f.shared_bytes) line("shared", fmt::format("{} bytes static", f.shared_bytes));
  if (f.local_bytes) line("local", fmt::format("{} bytes", f.local_bytes));
  std::vector<std::string> registers;
  for (const auto& [name, count] : f.registers) registers.push_back(fmt::format("{} {}", count, name));
  if (!registers.empty()) line("registers", fmt::format("{} (virtual)", fmt::join(registers, ", ")));
  line("code", counted(f.instructions, "instruction") + " in " + counted(f.blocks, "block"));
  line("limits", fmt::format("{}", fmt::join(f.limits, " ")));
}

void print_missing(const char* title, const std::map<std::string, u32>& missing) {
  if (missing.empty()) return;
  fmt::print("  {}\n", styled(stdout, Style::Yellow, title));
  for (const auto& [name, count] : missing) fmt::print("    {} ({})\n", name, count);
}

void print_module(const ModuleFacts& m) {
  fmt::print("{}", styled(stdout, Style::Bold, m.source));
  for (const Diag& d : m.problems)
    fmt::print("\n  {}{} {}", position(d), styled(stdout, Style::Red, "error:"), d.message);
  if (!m.problems.empty()) return fmt::print("\n"), void();
  fmt::print(": PTX {}.{}, {}\n", m.version / 10, m.version % 10, m.target);
  u32 functions = 0;
  for (const FunctionFacts& f : m.functions) f.kernel ? print_kernel(f) : void(++functions);
  if (functions) fmt::print("  device functions: {}\n", functions);
  if (!m.external.empty()) fmt::print("  from elsewhere: {}\n", fmt::join(m.external, ", "));
  fmt::print("  coverage: {} of {} implemented, in {}\n", total(m.implemented), counted(m.instructions, "instruction"),
             counted(static_cast<u32>(m.implemented.size()), "form"));
  print_missing("known, not implemented:", m.unimplemented);
  print_missing("unknown:", m.unknown);
}

void write_counts(JsonWriter& json, const char* name, const std::map<std::string, u32>& counts) {
  json.key(name).object();
  for (const auto& [what, count] : counts) json.field(what, count);
  json.end();
}

void write_function(JsonWriter& json, const FunctionFacts& f) {
  json.object().field("name", f.name).field("readable", f.readable).field("kernel", f.kernel).key("parameters").array();
  for (const auto& p : f.parameters) {
    json.object().field("name", p.name).field("type", p.type).field("bytes", p.bytes).field("align", p.align).end();
  }
  json.end()
      .field("parameter_bytes", f.parameter_bytes)
      .field("shared_bytes", f.shared_bytes)
      .field("local_bytes", f.local_bytes);
  write_counts(json, "registers", f.registers);
  json.field("instructions", f.instructions).field("blocks", f.blocks).key("limits").array();
  for (const std::string& l : f.limits) json.value(l);
  json.end().end();
}

void write_module(JsonWriter& json, const ModuleFacts& m) {
  json.object()
      .field("source", m.source)
      .field("version", fmt::format("{}.{}", m.version / 10, m.version % 10))
      .field("target", m.target);
  json.key("problems").array();
  for (const Diag& d : m.problems)
    json.object().field("line", d.loc.line).field("column", d.loc.col).field("message", d.message).end();
  json.end().key("functions").array();
  for (const FunctionFacts& f : m.functions) write_function(json, f);
  json.end().key("external").array();
  for (const std::string& name : m.external) json.value(name);
  json.end().field("instructions", m.instructions);
  write_counts(json, "implemented", m.implemented);
  write_counts(json, "unimplemented", m.unimplemented);
  write_counts(json, "unknown", m.unknown);
  json.end();
}

ModuleFacts examine(const PtxText& text) {
  ModuleFacts facts;
  facts.problems = text.problems;
  if (text.problems.empty()) {
    auto module = ptx::parse(text.text, text.source);
    if (module)
      facts = examine_module(**module);
    else
      facts.problems = module.diags();
  }
  facts.source = text.source;
  return facts;
}

ptx::Target target_of(const driver::Preset& p) {
  using driver::Attribute;
  return {static_cast<u32>(p[Attribute::COMPUTE_CAPABILITY_MAJOR] * 10 + p[Attribute::COMPUTE_CAPABILITY_MINOR]), true};
}

}  // namespace

int inspect_ptx(const std::string& file, const std::string& device, bool json) {
  const auto presets = driver::find_presets(device.empty() ? "h200" : device);
  if (!presets) return complain(presets.diags()), kExitUsage;
  const auto texts = read_ptx(file, target_of(*presets->front()));
  if (!texts) return complain(texts.diags()), kExitUsage;
  JsonWriter out;
  out.object().key("modules").array();
  int code = 0;
  for (const PtxText& text : *texts) {
    const ModuleFacts facts = examine(text);
    if (!facts.problems.empty()) code = kExitProblems;
    if (json)
      write_module(out, facts);
    else
      print_module(facts);
  }
  if (json) fmt::print("{}", out.end().end().text());
  return code;
}

}  // namespace us::tools
