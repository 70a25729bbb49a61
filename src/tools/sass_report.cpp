// SPDX-License-Identifier: Apache-2.0
// `understudy ptx --sass`: machine code, with its control words, beside the PTX and the CUDA lines that it comes from.
#include <fmt/format.h>

#include "base/demangle.h"
#include "base/json.h"
#include "driver/preset.h"
#include "sass/graph.h"
#include "tools/exit_codes.h"
#include "tools/run.h"
#include "tools/sass_source.h"
#include "tools/source_lines.h"
#include "tools/terminal.h"

namespace us::tools {
namespace {

std::string scoreboard(u8 n) { return n == sass::Control::kNone ? "-" : std::to_string(n); }

// "stall 4 yield wait 01.... sets 2 frees -"
std::string control_text(const sass::Control& c) {
  std::string wait;
  for (u32 i = 0; i < 6; ++i) wait += c.wait >> i & 1 ? static_cast<char>('0' + i) : '.';
  return fmt::format("{:2}{} {} {} {}", c.stall, c.yield ? 'y' : ' ', scoreboard(c.write_scoreboard),
                     scoreboard(c.read_scoreboard), wait);
}

std::string place_text(const std::vector<sass::SourceLine>& lines) {
  std::string out;
  for (const sass::SourceLine& l : lines)
    out += fmt::format("{}{}:{}", out.empty() ? "" : ", inlined at ", l.file.empty() ? "?" : l.file, l.line);
  return out;
}

class Printer {
 public:
  explicit Printer(const SassImage& image) : image_(image) {}

  void print() {
    fmt::print("{}: SASS for sm_{}, {}{}\n", styled(stdout, Style::Bold, image_.source), image_.code.sm,
               text_of(image_.origin), image_.note.empty() ? "" : " (" + image_.note + ")");
    for (const sass::Function& f : image_.code.functions) print_function(f);
  }

 private:
  void print_function(const sass::Function& f) {
    const sass::Graph graph = sass::make_graph(f);
    fmt::print("  {} {}: {} instructions, {} blocks\n", styled(stdout, Style::Bold, f.kernel ? "kernel" : "function"),
               demangled(f.name), f.instructions.size(), graph.blocks.size());
    fmt::print("    offset stall  set free wait\n");
    cuda_.clear();
    ptx_ = 0;
    for (u32 i = 0; i < f.instructions.size(); ++i) {
      const u32 block = graph.block_of[i];
      if (graph.blocks[block].first == i) print_block(f, graph, block);
      print_lines(f, i);
      print_instruction(f, i);
    }
  }

  void print_block(const sass::Function& f, const sass::Graph& graph, u32 b) {
    const auto place = f.places.find(u64{graph.blocks[b].first} * 16);
    std::string to;
    for (const u32 s : graph.blocks[b].successors) to += fmt::format(" block{}", s);
    fmt::print("  {}{}{}{}\n", styled(stdout, Style::Dim, fmt::format("block{}", b)),
               place == f.places.end() || place->second == f.name ? "" : " " + demangled(place->second),
               to.empty() ? "" : styled(stdout, Style::Dim, " ->" + to),
               graph.reachable[b] ? "" : styled(stdout, Style::Dim, " (not reached)"));
  }

  void print_lines(const sass::Function& f, u32 i) {
    if (i < f.cuda_lines.size() && !f.cuda_lines[i].empty() && f.cuda_lines[i] != cuda_) {
      cuda_ = f.cuda_lines[i];
      const std::string text = sources_.line(cuda_.front().file, cuda_.front().line);
      fmt::print("  {}\n", styled(stdout, Style::Green, place_text(cuda_) + (text.empty() ? "" : "  " + text)));
    }
    if (i >= f.ptx_lines.size() || !f.ptx_lines[i] || f.ptx_lines[i] == ptx_) return;
    ptx_ = f.ptx_lines[i];
    const std::string text = ptx_ <= image_.ptx.size() ? SourceLines::trimmed(image_.ptx[ptx_ - 1]) : "";
    fmt::print("    {}\n", styled(stdout, Style::Yellow, fmt::format("ptx:{}  {}", ptx_, text)));
  }

  void print_instruction(const sass::Function& f, u32 i) {
    const sass::Instruction& inst = f.instructions[i];
    std::string remark;
    if (!inst.complete()) remark = fmt::format("  // not known: {:016x} {:016x}", inst.word.hi, inst.word.lo);
    if (const auto u = f.unresolved.find(inst.offset); u != f.unresolved.end()) remark += "  // " + u->second;
    fmt::print("      {:04x} {}  {}{}\n", inst.offset, control_text(inst.control), inst.text(), remark);
  }

  const SassImage& image_;
  SourceLines sources_;
  std::vector<sass::SourceLine> cuda_;
  u32 ptx_ = 0;
};

std::string register_text(const sass::Access& a) {
  constexpr const char* banks[] = {"R", "P", "UR", "UP", "B"};
  const char* bank = banks[static_cast<int>(a.bank)];
  return a.count == 1 ? fmt::format("{}{}", bank, a.first)
                      : fmt::format("{}{}:{}", bank, a.first, a.first + a.count - 1);
}

void write_accesses(JsonWriter& json, const char* name, const std::vector<sass::Access>& list) {
  json.key(name).array();
  for (const sass::Access& a : list) json.value(register_text(a));
  json.end();
}

void write_control(JsonWriter& json, const sass::Control& c) {
  json.key("control").object().field("stall", c.stall).field("yield", c.yield);
  if (c.write_scoreboard != sass::Control::kNone) json.field("write_scoreboard", c.write_scoreboard);
  if (c.read_scoreboard != sass::Control::kNone) json.field("read_scoreboard", c.read_scoreboard);
  json.field("wait", c.wait).field("reuse", c.reuse).end();
}

void write_instruction(JsonWriter& json, const sass::Function& f, const sass::Graph& graph, u32 i) {
  constexpr const char* spaces[] = {"", "generic", "global", "shared", "local", "constant"};
  const sass::Instruction& inst = f.instructions[i];
  json.object().field("offset", inst.offset).field("text", inst.text()).field("name", inst.name);
  json.field("word", fmt::format("{:016x}{:016x}", inst.word.hi, inst.word.lo));
  json.field("block", graph.block_of[i]).field("known", inst.complete());
  if (inst.opcode) json.field("family", sass::name_of(inst.opcode->family));
  write_control(json, inst.control);
  write_accesses(json, "reads", inst.reads);
  write_accesses(json, "writes", inst.writes);
  if (inst.target) json.field("target", *inst.target);
  if (inst.memory.space != sass::Memory::Space::None)
    json.field("space", spaces[static_cast<int>(inst.memory.space)]).field("bytes", inst.memory.bytes);
  if (i < f.ptx_lines.size()) json.field("ptx_line", f.ptx_lines[i]);
  if (i < f.cuda_lines.size()) {
    json.key("cuda").array();
    for (const sass::SourceLine& l : f.cuda_lines[i]) {
      json.object().field("file", l.file).field("line", l.line);
      if (!l.function.empty()) json.field("function", l.function);
      json.end();
    }
    json.end();
  }
  json.end();
}

void write_image(JsonWriter& json, const SassImage& image) {
  json.object().field("source", image.source).key("problems").array();
  for (const Diag& d : image.problems) json.value(d.message);
  json.end().field("origin", text_of(image.origin)).field("note", image.note).field("sm", image.code.sm);
  json.key("functions").array();
  for (const sass::Function& f : image.code.functions) {
    const sass::Graph graph = sass::make_graph(f);
    json.object().field("name", f.name).field("readable", demangled(f.name)).field("kernel", f.kernel);
    json.key("blocks").array();
    for (const sass::Graph::Block& b : graph.blocks) {
      json.object().field("first", b.first).field("end", b.end).key("successors").array();
      for (const u32 s : b.successors) json.value(s);
      json.end().end();
    }
    json.end().key("instructions").array();
    for (u32 i = 0; i < f.instructions.size(); ++i) write_instruction(json, f, graph, i);
    json.end().end();
  }
  json.end().end();
}

ptx::Target target_of(const driver::Preset& p) {
  using driver::Attribute;
  return {static_cast<u32>(p[Attribute::COMPUTE_CAPABILITY_MAJOR] * 10 + p[Attribute::COMPUTE_CAPABILITY_MINOR]), true};
}

}  // namespace

int inspect_sass(const std::string& file, const std::string& device, const std::string& ptxas, bool json) {
  const auto presets = driver::find_presets(device.empty() ? "h200" : device);
  if (!presets) return complain(presets.diags()), kExitUsage;
  const auto images = read_sass(file, target_of(*presets->front()), ptxas);
  if (!images) return complain(images.diags()), kExitUsage;
  JsonWriter out;
  out.object().key("modules").array();
  int code = 0;
  for (const SassImage& image : *images) {
    if (!image.problems.empty()) code = kExitProblems;
    if (json)
      write_image(out, image);
    else if (image.problems.empty())
      Printer(image).print();
    for (const Diag& d : image.problems)
      if (!json) complain(image.source + ": " + d.message);
  }
  if (json) fmt::print("{}", out.end().end().text());
  return code;
}

}  // namespace us::tools
