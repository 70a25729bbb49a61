// SPDX-License-Identifier: Apache-2.0
// lower_verify FOLDER: every kernel and function of every .ptx below it is lowered in each form, with ir::verify after
// each pass. lower_verify FILE.ptx: of one file, which must parse (scripts/corpus_verify).
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "codegen/lower/lower.h"
#include "ptx/ptx.h"

namespace us::codegen {
namespace {

struct Setting {
  const char* name;
  Variant launch;
  CodeChoices choices;
};

std::vector<Setting> settings() {
  std::vector<Setting> all(6);
  all[0].name = "any block";
  all[1].name = "64 threads", all[1].launch.block = {64, 1, 1};
  all[2].name = "one thread", all[2].launch.block = {1, 1, 1};
  all[3].name = "ITS", all[3].choices.force_its = true;
  all[4].name = "late copies", all[4].launch.block = {128, 1, 1}, all[4].choices.deferred_copies = true;
  all[5].name = "without optional passes", all[5].launch.block = {64, 1, 1};
  for (const PassRow& row : pass_rows())
    if (row.need == PassRow::Need::Optional) all[5].choices.disabled.add(static_cast<Pass>(&row - pass_rows().data()));
  return all;
}

u32 lower_all(const ir::Module& m, const std::string& path, u32& functions) {
  u32 failed = 0;
  for (const Setting& s : settings()) {
    PassWatch watch;
    watch.verify = true;
    watch.broken = [&](Pass, const std::string& what) {
      if (!failed++) std::cout << path << " (" << s.name << "): " << what << "\n";
    };
    Lowering all(m, CodeFacts(s.launch, s.choices), watch);
    for (u32 f = 0; f < m.functions.size(); ++f)
      if (m.functions[f].defined) lower(all, ir::FuncId{f}), ++functions;
  }
  return failed;
}

struct Tally {
  u32 files = 0, functions = 0, failed = 0, refused = 0;

  void take(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    auto m = ptx::parse(text.str(), path.string());
    if (!m) {
      ++refused;
      why = path.string() + ": " + (m.diags().empty() ? "refused" : m.diags()[0].message);
      return;
    }
    ++files;
    failed += lower_all(**m, path.string(), functions) != 0;
  }
  void print() const {
    std::cout << files << " files, functions lowered " << functions << " times, " << failed << " files failed\n";
  }
  std::string why;
};

int one_file(const char* path) {
  Tally t;
  t.take(path);
  t.print();
  if (t.refused) std::cout << t.why << "\n";
  return t.failed || t.refused;
}

// Some below tests/ptx_front/bad are to be refused.
int folder(const char* path) {
  constexpr u32 kFewest = 80;
  Tally t;
  for (const auto& e : std::filesystem::recursive_directory_iterator(path))
    if (e.path().extension() == ".ptx") t.take(e.path());
  t.print();
  return t.failed || t.files < kFewest;
}

}  // namespace
}  // namespace us::codegen

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : ".";
  return std::filesystem::is_directory(path) ? us::codegen::folder(path) : us::codegen::one_file(path);
}
