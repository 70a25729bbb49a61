// SPDX-License-Identifier: Apache-2.0
#include "tools/program.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tools/elf_file.h"
#include "tools/stripped_runtime.h"

namespace us::tools {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_directory(path, error);
}

// The table of error names is in the runtime as a whole, so it survives stripping; a driver-API program lacks it.
bool has_static_runtime(const ElfFile& elf) {
  const bool shared = std::any_of(elf.needed.begin(), elf.needed.end(),
                                  [](const std::string& n) { return n.starts_with("libcudart.so"); });
  return !shared && elf.contains("cudaErrorCudartUnloading") && elf.contains("__cudaRegisterFatBinary");
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::istringstream directories(path ? path : "/usr/local/bin:/usr/bin:/bin");
  std::string fallback;
  for (std::string d; std::getline(directories, d, ':');) {
    const std::string candidate = (d.empty() ? "." : d) + "/" + name;
    if (!is_file(candidate)) continue;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (fallback.empty()) fallback = candidate;
  }
  return fallback;
}

Program examine_program(const std::string& name) {
  Program p;
  p.path = find_program(name);
  std::error_code error;
  if (p.path.empty() || !fs::exists(p.path, error)) return {};
  p.executable = is_file(p.path) && ::access(p.path.c_str(), X_OK) == 0;
  if (!p.executable) return p;
  const auto elf = ElfFile::open(p.path);
  if (!elf) return p;  // a script, say: whatever it starts inherits the environment
  p.thread_sanitizer = std::any_of(elf->needed.begin(), elf->needed.end(),
                                   [](const std::string& n) { return n.starts_with("libtsan.so"); });
  if (!has_static_runtime(*elf)) return p;
  if (!elf->section(".interp"))
    p.own_runtime = Program::OwnRuntime::NoLoader;
  else if (elf->symbols.empty() && archive_of_runtime_in(*elf, p.path).empty())
    p.own_runtime = Program::OwnRuntime::Stripped;
  return p;
}

std::string prepend(const std::string& first, const char* rest, char separator) {
  return rest && *rest ? first + separator + rest : first;
}

}  // namespace us::tools
