// SPDX-License-Identifier: Apache-2.0
// ptxas: the PTX is checked and handed on. Where it is refused, and where figures of the machine code are asked for
// (-v), the toolkit's own is run: its words and its verdict count, and what it made goes beside the PTX, for its
// registers.
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "ptx/fatbin.h"
#include "ptx/ptx.h"
#include "ptx/register_limit.h"
#include "ptx/target.h"
#include "tools/standins/standins.h"

namespace us::tools {
namespace {

constexpr int kRefused = 255;
// Of the toolkit 13.5. Newer PTX is left to the judgement of the toolkit's own: clients hand in an impossible version
// to learn the newest one from the refusal.
constexpr u32 kNewestVersion = 95;

struct Request {
  std::string input, output = "elf.o", arch = "sm_75";
  std::string max_registers;
  bool verbose = false, from_text = false;
};

Request read(const Arguments& all) {
  Request r;
  std::string ignored;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (value_of(all, i, {"-o", "--output-file"}, r.output) || value_of(all, i, {"-arch", "--gpu-name"}, r.arch) ||
        value_of(all, i, {"-maxrregcount", "--maxrregcount"}, r.max_registers))
      continue;
    if (value_of(all, i, {"-ias", "--input-as-string"}, r.input)) {
      r.from_text = true;
      continue;
    }
    if (value_of(all, i,
                 {"--opt-level",
                  "-O",
                  "--machine",
                  "-m",
                  "-dlcm",
                  "--def-load-cache",
                  "-dscm",
                  "--def-store-cache",
                  "-e",
                  "--entry",
                  "-maxntid",
                  "--maxntid",
                  "-minnctapersm",
                  "--minnctapersm",
                  "-regUsageLevel",
                  "--register-usage-level",
                  "-split-compile",
                  "--split-compile",
                  "-fmad",
                  "--fmad",
                  "-Ofc",
                  "--Ofast-compile"},
                 ignored))
      continue;
    if (all[i] == "-v" || all[i] == "--verbose") r.verbose = true;
    if (!all[i].starts_with('-')) r.input = all[i];
  }
  return r;
}

u32 number_of(const std::string& arch) {
  u32 sm = 0;
  const std::size_t at = arch.find('_');
  if (at != arch.npos) std::from_chars(arch.data() + at + 1, arch.data() + arch.size(), sm);
  return sm;
}

void complain(const std::string& file, const std::vector<Diag>& diags) {
  for (const Diag& d : diags)
    if (d.loc.file)  // a line of the program's source
      fmt::print(stderr, "ptxas error   : {}\n", d.message);
    else
      fmt::print(stderr, "ptxas {}, line {}; error   : {}\n", file, d.loc.line, d.message);
  fmt::print(stderr, "ptxas fatal   : Ptx assembly aborted due to errors\n");
}

// `target`: of the text, where it can be read.
bool good(const std::string& text, const Request& r, bool say, std::string& target) {
  const auto m = ptx::parse(text, r.input);
  if (m) target = (*m)->target;
  const std::vector<Diag> wrong = m ? ptx::unknown_instructions(**m) : m.diags();
  if (!wrong.empty()) {
    if (say) complain(r.from_text ? "<string>" : r.input, wrong);
    return false;
  }
  if ((*m)->version > kNewestVersion) {
    if (say)
      fmt::print(stderr, "ptxas {}, line 1; fatal   : Unsupported .version; current version is '{}.{}'\n",
                 r.from_text ? "application ptx input" : r.input, kNewestVersion / 10, kNewestVersion % 10);
    return false;
  }
  if ((*m)->sm <= number_of(r.arch)) return true;
  if (say)
    fmt::print(stderr, "ptxas fatal   : SM version specified by .target is higher than default SM version assumed\n");
  return false;
}

}  // namespace

int ptxas(const StockTool& stock, const Arguments& arguments) {
  const Request r = read(arguments);
  std::string text;
  if (r.from_text) {
    text = r.input;
  } else if (r.input.empty() || !read_whole(r.input, text)) {
    if (stock) return stock.run(arguments);  // its usage, or why not
    fmt::print(stderr, "ptxas fatal   : Input file '{}' could not be opened\n", r.input);
    return kRefused;
  }
  text.resize(std::min(text.size(), text.find('\0')));
  std::string target, machine_code;
  const bool fine = good(text, r, !stock, target);
  if (!fine && !stock) return kRefused;
  if (stock && (!fine || r.verbose)) {
    if (const int code = stock.run(arguments)) return code;
    read_whole(r.output, machine_code);
  }
  if (r.arch.starts_with("compute_")) return 0;  // "parsing only"
  if (const u32 n = static_cast<u32>(std::atoi(r.max_registers.c_str())))
    text = ptx::with_register_limit(std::move(text), n);
  const bool facts = !machine_code.empty() && !target.empty();
  if (write_whole(r.output, facts ? ptx::make_fat_binary(text, machine_code, target) : text + '\0')) return 0;
  fmt::print(stderr, "ptxas fatal   : Could not open output file '{}'\n", r.output);
  return kRefused;
}

}  // namespace us::tools
