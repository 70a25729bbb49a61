// SPDX-License-Identifier: Apache-2.0
// nvlink: links the PTX of its inputs, as libnvJitLink does.
#include <cstdio>

#include "cuda/libnvjitlink/job.h"
#include "tools/standins/standins.h"

namespace us::tools {
namespace {

// Nothing here depends on them: the value must not pass for an input.
constexpr std::initializer_list<const char*> kWithValue = {"-m",
                                                           "--machine",
                                                           "-L",
                                                           "--library-path",
                                                           "-l",
                                                           "--library",
                                                           "-cpu-arch",
                                                           "--cpu-arch",
                                                           "-ccbin",
                                                           "--host-ccbin",
                                                           "--register-link-binaries",
                                                           "-kernels-used",
                                                           "--kernels-used",
                                                           "-variables-used",
                                                           "--variables-used",
                                                           "-split-compile",
                                                           "--split-compile",
                                                           "-Xptxas",
                                                           "--Xptxas",
                                                           "-Xnvvm",
                                                           "--Xnvvm"};

}  // namespace

// Where no input is one of ours, it is a build of a program for real devices, and the toolkit's own does it.
int nvlink(const StockTool& stock, const Arguments& all) {
  std::string output = "a.out", arch, max_registers, ignored;
  std::vector<std::string> inputs;
  bool ours = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (value_of(all, i, {"-o", "--output-file"}, output) || value_of(all, i, {"-arch", "--arch"}, arch) ||
        value_of(all, i, {"-maxrregcount", "--maxrregcount"}, max_registers) || value_of(all, i, kWithValue, ignored))
      continue;
    if (all[i].starts_with('-')) continue;
    inputs.push_back(all[i]);
    std::string data;
    ours |= read_whole(all[i], data) && is_handed_on(data);
  }
  if (!ours && stock) return stock.run(all);
  const std::string of_arch = "-arch=" + arch, of_registers = "-maxrregcount=" + max_registers;
  const char* given[] = {of_arch.c_str(), of_registers.c_str()};
  nvjitlink::Options options;
  if (nvjitlink::read_options(1, given, options) != nvjitlink::Success) {
    std::fprintf(stderr, "nvlink fatal   : unknown architecture '%s'\n", arch.c_str());
    return 1;
  }
  if (!max_registers.empty() && nvjitlink::read_options(2, given, options) != nvjitlink::Success) {
    std::fprintf(stderr, "nvlink fatal   : wrong value of -maxrregcount: '%s'\n", max_registers.c_str());
    return 1;
  }
  nvjitlink::Job job(options);
  int code = 0;
  for (const std::string& i : inputs) code |= job.add_file(nvjitlink::Kind::Any, i.c_str());
  if (!code) code = job.complete();
  if (!code && write_whole(output, *job.cubin())) return 0;
  std::fprintf(stderr, "nvlink %s", job.error_log().c_str());
  return 255;
}

}  // namespace us::tools
