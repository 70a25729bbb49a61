// SPDX-License-Identifier: Apache-2.0
#include "ptx/mapped.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace us::ptx {

// Lines of the file: "start-end rwxp ...", by address.
std::span<const u8> mapped_from(const void* p) {
  const u64 at = reinterpret_cast<u64>(p);
  constexpr u64 kEndOfAddresses = u64{1} << 47;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"), std::fclose);
  u64 end = maps ? at : kEndOfAddresses;  // without the file nothing is known
  char* line = nullptr;
  std::size_t room = 0;
  while (maps && ::getline(&line, &room, maps.get()) > 0) {
    unsigned long low = 0, high = 0;
    char readable = '-';
    if (std::sscanf(line, "%lx-%lx %c", &low, &high, &readable) != 3 || high <= end) continue;
    if (low > end || readable != 'r') break;
    end = high;
  }
  std::free(line);
  return {static_cast<const u8*>(p), end > at ? end - at : 0};
}

}  // namespace us::ptx
