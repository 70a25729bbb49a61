// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels of a PTX file and prints pass times: jitdump FILE [--kernel K] [--block X Y Z] [--dump PASS]
// [--cpu NAME] [--usual] [--verify] [--disable PASS] [--its] [--varying] [--late] [--many BLOCKS]
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "codegen/jit.h"
#include "ptx/ptx.h"

int main(int argc, char** argv) {
  std::string file, kernel;
  us::codegen::Options o;
  us::codegen::Variant v;
  o.time_passes = true;
  o.show = [](std::string_view text) { std::cerr << text; };
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    if (a == "--kernel" && k + 1 < argc)
      kernel = argv[++k];
    else if (a == "--block" && k + 3 < argc) {
      v.block = {static_cast<us::u32>(std::atoi(argv[k + 1])), static_cast<us::u32>(std::atoi(argv[k + 2])),
                 static_cast<us::u32>(std::atoi(argv[k + 3]))};
      k += 3;
    } else if (a == "--dump" && k + 1 < argc)
      o.dump_after = argv[++k];
    else if (a == "--cpu" && k + 1 < argc)
      o.cpu = argv[++k];
    else if (a == "--many" && k + 1 < argc)
      o.many_blocks = static_cast<us::u32>(std::atoi(argv[++k]));
    else if (a == "--disable" && k + 1 < argc) {
      for (const us::PassRow& row : us::pass_rows())
        if (row.name == argv[k + 1]) o.disabled.add(static_cast<us::Pass>(&row - us::pass_rows().data()));
      ++k;
    } else if (a == "--usual")
      v.usual_space = true;
    else if (a == "--verify")
      o.verify_passes = true;
    else if (a == "--late")
      o.deferred_copies = true;
    else if (a == "--its")
      o.force_its = true;
    else if (a == "--varying")
      o.force_varying = true;
    else
      file = a;
  }
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  auto m = us::ptx::parse(text.str(), file);
  if (!m) {
    for (const auto& d : m.diags())
      std::cerr << file << ":" << d.loc.line << ":" << d.loc.col << ": " << d.message << "\n";
    return 1;
  }
  us::codegen::Jit jit(o);
  int failed = 0;
  for (const auto& f : (*m)->functions) {
    if (!f.entry || (!kernel.empty() && f.name != kernel)) continue;
    std::size_t n = 0;
    for (const auto& b : f.blocks) n += b.insts.size();
    auto r = jit.compile(**m, f.name, v);
    if (!r) {
      std::cerr << r.diags()[0].message << "\n";
      failed = 1;
    } else {
      std::cerr << f.name << ": " << n << " instructions, " << (*r)->compile_ms << " ms, yields " << (*r)->yields
                << "\n";
    }
  }
  return failed;
}
