// SPDX-License-Identifier: Apache-2.0
#include "base/report.h"

#include <gtest/gtest.h>

namespace us {
namespace {

TEST(Report, IsExactUntilSomethingFellShort) {
  Report r;
  r.fact("devices", "h200");
  r.count("kernels launched", 2);
  r.shortfall(Shortfall::Ignored, "launch attribute AccessPolicyWindow");
  EXPECT_TRUE(r.exact());
  r.shortfall(Shortfall::StubbedCall, "cudaGLGetDevices");
  EXPECT_FALSE(r.exact());
}

TEST(Report, IsNotExactWhenSomethingWasTurnedAway) {
  Report r;
  r.shortfall(Shortfall::Refused, "the CUDA runtime in plug.so");
  EXPECT_FALSE(r.exact());
  EXPECT_EQ(r.to_text(), "fidelity: not exact\n  turned away:\n    the CUDA runtime in plug.so (1 time)\n");
}

TEST(Report, TextNamesEachShortfallWithItsCount) {
  Report r;
  r.fact("devices", "h100");
  r.fact("devices", "h200");
  r.shortfall(Shortfall::StubbedCall, "cudaGLGetDevices", 2);
  r.shortfall(Shortfall::Unimplemented, "wgmma.mma_async");
  EXPECT_EQ(r.to_text(),
            "fidelity: not exact\n"
            "  devices      h200\n"
            "  API calls answered with NOT_SUPPORTED:\n"
            "    cudaGLGetDevices (2 times)\n"
            "  reached, but not implemented:\n"
            "    wgmma.mma_async (1 time)\n");
}

TEST(Report, JsonHasEveryKindEvenIfEmpty) {
  Report r;
  r.count("kernels launched");
  r.count("kernels launched");
  const std::string text = r.to_json();
  for (const char* part : {"\"exact\": true", "\"kernels launched\": 2", "\"stubbed_calls\": {}",
                           "\"unimplemented\": {}", "\"refused\": {}", "\"ignored\": {}", "\"approximate\": {}"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

}  // namespace
}  // namespace us
