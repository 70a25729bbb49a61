// SPDX-License-Identifier: Apache-2.0
// What cudaMalloc and cudaFree take of the host, against an H200 (oracle/timing/alloc.txt, the mean of three runs).
#include "timing/device_chunks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace us::timing {
namespace {

using probe::Memory;

struct Program {
  const Parameters p;
  DeviceChunks chunks;
  u64 next = 4096;
  double allocate(u64 bytes) {
    return chunks.change(p, {.kind = Memory::Kind::Allocated, .begin = next, .bytes = bytes});
  }
  double free(u64 at) { return chunks.change(p, {.kind = Memory::Kind::Freed, .begin = at}); }
};

TEST(DeviceChunks, AsAnH200) {
  std::ifstream in(US_SOURCE_DIR "/oracle/timing/alloc.txt");
  int n = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string what, bar;
    u64 bytes = 0;
    double allocate = 0, free = 0;
    words >> what >> bytes >> bar >> allocate >> free;
    if (what != "alone" && what != "beside" && what != "many") continue;
    ASSERT_TRUE(words) << line;
    Program of;
    double ours = 0, back = 0;
    if (what == "many") {
      constexpr int kMany = 64;
      for (int k = 0; k < kMany; ++k) of.next = (k + u64{1}) << 32, ours += of.allocate(bytes) / kMany;
      for (int k = 0; k < kMany; ++k) back += of.free((k + u64{1}) << 32) / kMany;
    } else {
      if (what == "beside") of.allocate(256), of.next = u64{1} << 32;
      ours = of.allocate(bytes), back = of.free(of.next);
    }
    // A row of many has one or two of 70 us among those of 30.
    EXPECT_LT(std::abs(ours / allocate - 1), 0.45) << line << ": " << ours;
    EXPECT_LT(std::abs(back / free - 1), 0.45) << line << ": " << back;
    ++n;
  }
  EXPECT_EQ(n, 40);
}

TEST(DeviceChunks, OtherMemory) {
  Program of;
  for (const Memory::Owner o :
       {Memory::Owner::Host, Memory::Owner::Pool, Memory::Owner::Managed, Memory::Owner::Variable})
    EXPECT_EQ(of.chunks.change(of.p, {.kind = Memory::Kind::Allocated, .owner = o, .begin = 1, .bytes = 4}), 0);
  EXPECT_EQ(of.free(1), 0);
}

}  // namespace
}  // namespace us::timing
