// SPDX-License-Identifier: Apache-2.0
#include "tools/stripped_runtime.h"

#include <cstdlib>

#include "base/runtime_archive.h"
#include "tools/elf_file.h"

namespace us::tools {

std::string archive_of_runtime_in(const ElfFile& elf, const std::string& file) {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
  };
  const char* const toolkits[] = {variable("CUDA_HOME"), variable("CUDA_PATH"), "/usr/local/cuda", nullptr};
  const auto* text = elf.section(".text");
  std::string found;
  if (!text || !elf.section(".nvFatBinSegment")) return found;
  each_runtime_archive(variable("UNDERSTUDY_STATIC_RUNTIME"), file.c_str(), toolkits, [&](const char* candidate) {
    if (RuntimeArchive(candidate).find_in(text->bytes.data(), text->bytes.size()) != RuntimeArchive::kNowhere)
      found = candidate;
    return !found.empty();
  });
  return found;
}

}  // namespace us::tools
