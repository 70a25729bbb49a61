// SPDX-License-Identifier: Apache-2.0
#include "tools/host.h"

#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace us::tools {

namespace fs = std::filesystem;

std::string library_directory() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return (self.parent_path().parent_path() / "lib").string();
}

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.find(':') + 2, line.size()));
  return "unknown";
}

std::string vector_extension() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) return "AVX-512";
  return __builtin_cpu_supports("avx2") ? "AVX2" : "x86-64";
}

u32 cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<u32>(CPU_COUNT(&set));
}

u64 memory_bytes() { return static_cast<u64>(::sysconf(_SC_PHYS_PAGES)) * static_cast<u64>(::sysconf(_SC_PAGE_SIZE)); }

DirectorySize measure(const std::string& directory) {
  DirectorySize size;
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (!it->is_regular_file(gone)) continue;
    const auto bytes = it->file_size(gone);
    if (gone) continue;
    ++size.files;
    size.bytes += bytes;
  }
  return size;
}

std::string readable_bytes(u64 n) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double v = static_cast<double>(n);
  u32 u = 0;
  while (v >= 1024 && u + 1 < std::size(units)) v /= 1024, ++u;
  return u == 0 ? fmt::format("{} bytes", n) : fmt::format("{:.1f} {}", v, units[u]);
}

}  // namespace us::tools
