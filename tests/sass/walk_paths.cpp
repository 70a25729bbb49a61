// SPDX-License-Identifier: Apache-2.0
// What the machine code of a program's kernels executes, out of the PTX paths of their warps.
//   walk_paths PROGRAM PATHS [--blocks]
// PATHS: "kernel NAME|.." lines, each with lines "path WARPS SITE:LANES .." behind it. Prints, with tabs between:
//   kernel  NAME  instructions  warps  lost  loose  ways  weakness
//   i       OFFSET  executed by ways  its lanes  by statements  its lanes  poll  text
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/demangle.h"
#include "driver/code/assembler.h"
#include "ptx/ptx.h"
#include "ptx/statement_lines.h"
#include "sass/executed.h"
#include "tools/elf_file.h"
#include "tools/ptx_facts.h"

namespace us {
namespace {

struct Loaded {
  std::unique_ptr<ir::Module> module;
  std::unique_ptr<sass::Program> program;
  sass::Code code;
};

int fail(const std::vector<Diag>& diags) {
  for (const Diag& d : diags) fmt::print(stderr, "walk_paths: {}\n", d.message);
  return 1;
}

std::vector<Loaded> load(const std::string& file) {
  std::vector<Loaded> out;
  const auto texts = tools::read_ptx(file, {90, true});
  if (!texts) {
    fail(texts.diags());
    return out;
  }
  for (const tools::PtxText& t : *texts) {
    if (!t.problems.empty()) continue;
    const std::string text = ptx::one_statement_per_line(t.text);
    auto module = ptx::parse(ptx::without_locations(text), t.source);
    if (!module) {
      fail(module.diags());
      continue;
    }
    const auto elf =
        driver::Assembler::machine_code(driver::Assembler::find(), {.ptx = text, .arch = 90, .options = {}}, 90);
    if (!elf) {
      fail(elf.diags());
      continue;
    }
    auto code = sass::read_code({reinterpret_cast<const u8*>(elf->data()), elf->size()});
    if (!code) {
      fail(code.diags());
      continue;
    }
    Loaded l{std::move(*module), nullptr, std::move(*code)};
    l.program = std::make_unique<sass::Program>(*l.module, sass::lines_of_sites(*l.module));
    out.push_back(std::move(l));
  }
  return out;
}

std::string statement_text(const sass::Program& p, u32 index) {
  if (index == sass::Program::kNone) return "-";
  const sass::Program::Statement& s = p.statements()[index];
  return fmt::format("P{} {}", s.block, s.inst ? ir::to_text(p.module(), *s.inst) : "branch");
}

void report(const sass::Program& p, const sass::Function& f, const sass::Execution& e, double seconds, bool blocks) {
  fmt::print("kernel\t{}\t{}\t{}\t{}\t{}\t{:.3f}\t{}\n", f.name, f.instructions.size(), e.walked() + e.lost(), e.lost(),
             e.loose(), seconds, e.weakness());
  for (u32 b = 0; b < e.graph().blocks.size(); ++b) {
    const sass::Graph::Block& block = e.graph().blocks[b];
    if (blocks) {
      fmt::print("block\t{}\t", b);
      for (const u32 s : e.map().blocks[b].next) fmt::print("{} ", s);
      fmt::print("\t");
      for (const sass::Map::Use& u : e.map().blocks[b].uses) fmt::print("{}:{}/{} ", u.element, u.surely, u.at_most);
      fmt::print("\t");
      for (const u32 s : e.map().blocks[b].sources) fmt::print("P{} ", s);
      fmt::print("\n");
    }
    for (u32 i = block.first; i < block.end; ++i) {
      const sass::Executed &w = e.blocks()[b], &s = e.by_statement()[i];
      fmt::print("i\t{:x}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", f.instructions[i].offset, w.warps, w.lanes, s.warps, s.lanes,
                 b, f.instructions[i].text(), blocks ? statement_text(p, e.map().statements[i]) : "");
    }
  }
}

int run(const std::string& file, const std::string& paths, bool blocks) {
  std::vector<Loaded> all = load(file);
  std::ifstream in(paths);
  std::unique_ptr<sass::Execution> execution;
  const sass::Function* function = nullptr;
  const sass::Program* program = nullptr;
  auto start = std::chrono::steady_clock::now();
  const auto end = [&] {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (execution) report(*program, *function, *execution, seconds, blocks);
    execution.reset();
  };
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("kernel ")) {
      end();
      start = std::chrono::steady_clock::now();
      const std::string name = line.substr(7, line.rfind('|', line.rfind('|') - 1) - 7);
      for (const Loaded& l : all)
        for (const sass::Function& f : l.code.functions)
          if (f.kernel && demangled(f.name) == name) {
            function = &f;
            program = l.program.get();
            execution = std::make_unique<sass::Execution>(*l.program, f);
          }
      if (!execution) fmt::print(stderr, "walk_paths: no kernel {}\n", name);
      continue;
    }
    if (!execution || !line.starts_with("path ")) continue;
    std::vector<sass::PathStep> path;
    char* at = line.data() + 5;
    const u64 warps = std::strtoull(at, &at, 10);
    while (*at == ' ') {
      const u32 site = static_cast<u32>(std::strtoul(at + 1, &at, 10));
      const u32 lanes = static_cast<u32>(std::strtoul(at + 1, &at, 16));
      path.push_back({program->block_of_site(site), lanes});
    }
    execution->add(path, warps);
  }
  end();
  return 0;
}

}  // namespace
}  // namespace us

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: walk_paths PROGRAM PATHS [--blocks]\n");
    return 2;
  }
  return us::run(argv[1], argv[2], argc > 3);
}
