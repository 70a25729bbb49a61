// SPDX-License-Identifier: Apache-2.0
// fatbinary: where an image is said to be machine code and is PTX, it goes in as PTX.
#include <cstdio>

#include "ptx/ptx.h"
#include "tools/standins/standins.h"

namespace us::tools {
namespace {

void replace(std::string& text, const std::string& from, const std::string& to) {
  if (const std::size_t at = text.find(from); at != text.npos) text.replace(at, from.size(), to);
}

// "--image3=kind=elf,sm=90a,file=a.cubin", "--image=profile=sm_90a,file=a.cubin"
// `refused`: the file, where it is ours and not one text, for which there is no kind of image.
std::string corrected(const std::string& image, std::string& refused) {
  constexpr const char* kFile = "file=";
  const std::size_t at = image.find(kFile);
  if (!image.starts_with("--image") || at == image.npos) return image;
  const std::size_t start = at + 5;
  const std::string path = image.substr(start, image.find(',', start) - start);
  std::string data;
  if (!read_whole(path, data)) return image;
  const bool as_machine_code = image.find("kind=elf") != image.npos || image.find("profile=sm_") != image.npos;
  if (as_machine_code && is_handed_on(data) && !ptx::is_ptx(data)) refused = path;
  if (!ptx::is_ptx(data)) return image;
  std::string out = image;
  replace(out, "kind=elf", "kind=ptx");
  replace(out, "profile=sm_", "profile=compute_");
  return out;
}

}  // namespace

int fatbinary(const StockTool& stock, const Arguments& all) {
  Arguments mended;
  std::string refused;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool apart = all[i].starts_with("--image") && all[i].find('=') == std::string::npos && i + 1 < all.size();
    mended.push_back(corrected(apart ? all[i] + "=" + all[i + 1] : all[i], refused));
    i += apart;
  }
  if (refused.empty()) return stock.run(mended);
  std::fprintf(
      stderr,
      "fatbinary fatal   : understudy: %s holds linked PTX, or PTX with its machine code, which is no image of a "
      "fat binary; give it the output of one ptxas without -v\n",
      refused.c_str());
  return 1;
}

}  // namespace us::tools
