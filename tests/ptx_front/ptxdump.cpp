// SPDX-License-Identifier: Apache-2.0
// ptxdump [-q] [-n N] FILE...: parses each file (PTX or fat binary) and prints its IR, or with -q only the diagnostics,
// and the time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>

#include "ptx/fatbin.h"
#include "ptx/ptx.h"

namespace {

using Clock = std::chrono::steady_clock;

void print_summary(const us::ir::Module& m, const char* file, double ms) {
  std::size_t insts = 0, blocks = 0;
  std::map<std::string, int> unknown;
  for (const auto& f : m.functions)
    for (const auto& b : f.blocks) {
      ++blocks;
      insts += b.insts.size();
      for (const auto& i : b.insts)
        if (i.form == us::isa::Form::Unknown) ++unknown[i.text];
    }
  std::printf("%s: %zu functions, %zu blocks, %zu instructions, %.2f ms\n", file, m.functions.size(), blocks, insts,
              ms);
  for (const auto& [text, count] : unknown) std::printf("  no row: %s (%d)\n", text.c_str(), count);
}

bool dump(const char* file, bool quiet, int repeat) {
  std::ifstream in(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  double best = 1e9;
  for (int k = 0; k < repeat; ++k) {
    const auto start = Clock::now();
    auto r = us::ptx::load(text.c_str(), {}, file);
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    if (!r) {
      for (const auto& d : r.diags()) std::printf("%s:%u:%u: %s\n", file, d.loc.line, d.loc.col, d.message.c_str());
      return false;
    }
    if (k + 1 < repeat) continue;
    if (quiet)
      print_summary(**r, file, best);
    else
      std::fputs(us::ir::to_text(**r).c_str(), stdout);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bool ok = true, quiet = false;
  int repeat = 1;
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    if (a == "-q")
      quiet = true;
    else if (a == "-n" && k + 1 < argc)
      repeat = std::atoi(argv[++k]);
    else
      ok = dump(argv[k], quiet, repeat > 0 ? repeat : 1) && ok;
  }
  return ok ? 0 : 1;
}
