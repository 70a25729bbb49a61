// SPDX-License-Identifier: Apache-2.0
// The machine and the installation on which this runs.
#pragma once
#include "base/types.h"

namespace us::tools {

std::string library_directory();  // where libcuda.so.1 and libcudart.so.13 of this `understudy` lie
std::string cpu_name();
std::string vector_extension();  // widest one that compiled kernels can use: "AVX-512", "AVX2" or "x86-64"
u32 cores();                     // that this process may use
u64 memory_bytes();

struct DirectorySize {
  u64 files = 0, bytes = 0;
};
DirectorySize measure(const std::string& directory);  // zero if it does not exist
std::string readable_bytes(u64);                      // "1.5 GiB"

}  // namespace us::tools
