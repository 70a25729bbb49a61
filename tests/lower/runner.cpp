// SPDX-License-Identifier: Apache-2.0
// lower_runner FILE...: the text of a kernel's IR behind one pass of codegen/lower, against what the file expects.
//
//   // what the case shows
//   // pass: inserted_barriers by name; options behind it: block X Y Z, its, late, dependent, events
//   ...PTX...
//   // expect             the rest of the file, without places in the source. The last run of the pass counts, of the
// first kernel.
//   // block0:
//
// --update writes what came out into the file: for a look at the difference, never to make a test pass.
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "codegen/lower/lower.h"
#include "ptx/ptx.h"

namespace us::codegen {
namespace {

struct Case {
  std::string source, expected;
  Pass pass = Pass::Count;
  Variant launch;
  CodeChoices choices;
};

bool read_options(std::istringstream& words, Case& c) {
  std::string name;
  words >> name;
  for (const PassRow& row : pass_rows())
    if (row.name == name) c.pass = static_cast<Pass>(&row - pass_rows().data());
  for (std::string w; words >> w;) {
    if (w == "block")
      words >> c.launch.block.x >> c.launch.block.y >> c.launch.block.z;
    else if (w == "its")
      c.choices.force_its = true;
    else if (w == "late")
      c.choices.deferred_copies = true;
    else if (w == "dependent")
      c.launch.dependent = true;
    else if (w == "events")
      c.launch.probe = probe::Strategy::Events;
    else
      return false;
  }
  return c.pass < Pass::Emit;
}

bool read_case(const std::string& path, Case& c) {
  std::ifstream in(path);
  bool right = false, expects = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "// expect") {
      expects = true;
      continue;
    }
    if (expects) {
      c.expected += (line.size() > 3 ? line.substr(3) : "") + "\n";
      continue;
    }
    c.source += line + "\n";
    if (line.starts_with("// pass: ")) {
      std::istringstream words(line.substr(9));
      right = read_options(words, c);
    }
  }
  return right;
}

// Without the head of the function, and without places in the source.
std::string plain(const std::string& text) {
  std::istringstream in(text);
  std::string out, line;
  for (u32 k = 0; std::getline(in, line); ++k) {
    if (line.starts_with("; --- after") || line.starts_with("entry ")) continue;
    for (const char* mark : {"  // line ", "  // file "})
      if (const auto at = line.find(mark); at != line.npos) line.resize(at);
    out += line + "\n";
  }
  return out;
}

std::string come_out(const Case& c, const std::string& path) {
  auto m = ptx::parse(c.source, path);
  if (!m) return "does not parse: " + m.diags()[0].message + "\n";
  std::string broken;
  PassWatch watch;
  watch.verify = true;
  watch.dump_after = name_of(c.pass);
  watch.broken = [&](Pass, const std::string& what) { broken += what + "\n"; };
  Lowering all(**m, CodeFacts(c.launch, c.choices), watch);
  for (u32 f = 0; f < (*m)->functions.size(); ++f)
    if ((*m)->functions[f].entry) {
      lower(all, ir::FuncId{f});
      break;
    }
  const std::string& dump = all.passes.dump;
  const auto last = dump.rfind("; --- after");
  return broken + (last == dump.npos ? "the pass did not run\n" : plain(dump.substr(last)));
}

void update(const std::string& path, const Case& c, const std::string& text) {
  std::ofstream out(path);
  out << c.source << "// expect\n";
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out << "// " << line << "\n";
}

}  // namespace
}  // namespace us::codegen

int main(int argc, char** argv) {
  int failed = 0, count = 0;
  const bool update = argc > 1 && !std::strcmp(argv[1], "--update");
  for (int k = update ? 2 : 1; k < argc; ++k, ++count) {
    us::codegen::Case c;
    if (!us::codegen::read_case(argv[k], c)) {
      std::cout << argv[k] << ": a line `// pass: NAME [option...]` is missing or wrong\n";
      ++failed;
      continue;
    }
    const std::string text = us::codegen::come_out(c, argv[k]);
    if (update) us::codegen::update(argv[k], c, text);
    if (update || text == c.expected) continue;
    ++failed;
    std::cout << "FAIL " << argv[k] << "\n--- expected\n" << c.expected << "--- came out\n" << text;
  }
  std::cout << count << " cases, " << failed << " failed\n";
  return failed || !count;
}
