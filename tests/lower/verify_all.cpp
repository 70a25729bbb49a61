// SPDX-License-Identifier: Apache-2.0
// lower_verify FOLDER: every kernel and function of every .ptx below it is lowered in each form, with ir::verify after
// each pass.
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

}  // namespace
}  // namespace us::codegen

int main(int argc, char** argv) {
  us::u32 files = 0, functions = 0, failed = 0;
  for (const auto& e : std::filesystem::recursive_directory_iterator(argc > 1 ? argv[1] : ".")) {
    if (e.path().extension() != ".ptx") continue;
    std::ifstream in(e.path());
    std::stringstream text;
    text << in.rdbuf();
    auto m = us::ptx::parse(text.str(), e.path().string());
    if (!m) continue;  // of tests/ptx_front/bad
    ++files;
    failed += us::codegen::lower_all(**m, e.path().string(), functions) != 0;
  }
  std::cout << files << " files, functions lowered " << functions << " times, " << failed << " files failed\n";
  return failed || files < 80;
}
