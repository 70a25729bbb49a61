// SPDX-License-Identifier: Apache-2.0
#include "timing/parameters.h"

#include <gtest/gtest.h>

namespace us::timing {
namespace {

TEST(Parameters, EveryParameterSaysWhereItIsFrom) {
  for (const TimedDevice& d : timed_devices())
    for (const ParameterRow& p : d.rows) {
      EXPECT_GT(p.value, 0) << p.name;
      EXPECT_TRUE(p.source.starts_with("H200:") || p.source.starts_with("public:") || p.source.starts_with("guess") ||
                  p.source.starts_with("oracle/timing"))
          << p.name;
    }
}

TEST(Parameters, DevicesHaveParametersByName) {
  const Parameters& h200 = parameters_of("NVIDIA H200");
  const Parameters& h100 = parameters_of("NVIDIA H100 80GB HBM3");
  EXPECT_EQ(&h100, &timed_device("h100")->parameters);
  EXPECT_LT(h100.dram_rate, 0.75 * h200.dram_rate);
  EXPECT_EQ(h100.l1_latency, h200.l1_latency);
  EXPECT_EQ(timed_device("NVIDIA A100-SXM4-80GB"), nullptr);
  EXPECT_EQ(parameters_of("NVIDIA A100-SXM4-80GB").dram_rate, h200.dram_rate);
  EXPECT_EQ(no_parameters("a100"), "the model knows h200, h100, and this is an a100");
}

}  // namespace
}  // namespace us::timing
