// SPDX-License-Identifier: Apache-2.0
// nvcc -cubin: compiles to PTX, which goes where the cubin was to go. Everything else is the toolkit's.
#include <algorithm>
#include <filesystem>

#include "tools/standins/standins.h"

namespace us::tools {
namespace {

bool asks_for_cubin(const std::string& a) { return a == "-cubin" || a == "--cubin"; }

// "sm_90a" → "compute_90a", in "arch=compute_90,code=sm_90", too.
std::string to_virtual(std::string text) {
  for (std::size_t at = 0; (at = text.find("sm_", at)) != text.npos;) text.replace(at, 3, "compute_");
  return text;
}

}  // namespace

int nvcc(const StockTool& stock, const Arguments& all) {
  if (std::ranges::none_of(all, asks_for_cubin)) return stock.run(all);
  Arguments mended;
  std::string output, input;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string value;
    const std::string option = all[i];
    if (asks_for_cubin(option)) {
      mended.push_back("-ptx");
    } else if (value_of(all, i, {"-o", "--output-file"}, output)) {
    } else if (value_of(all, i, {"-arch", "--gpu-architecture"}, value)) {
      mended.push_back("-arch=" + to_virtual(value));
    } else if (value_of(all, i, {"-code", "--gpu-code"}, value)) {
      mended.push_back("-code=" + to_virtual(value));
    } else if (value_of(all, i, {"-gencode", "--generate-code"}, value)) {
      mended.push_back("-gencode=" + to_virtual(value));
    } else {
      if (std::filesystem::path(option).extension() == ".cu") input = option;
      mended.push_back(option);
    }
  }
  if (output.empty()) output = std::filesystem::path(input).stem().string() + ".cubin";
  mended.insert(mended.end(), {"-o", output});
  if (const int code = stock.run(mended)) return code;
  std::string text;
  return read_whole(output, text) && write_whole(output, text + '\0') ? 0 : 1;
}

}  // namespace us::tools
