// SPDX-License-Identifier: Apache-2.0
#include "driver/preset.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace us::driver {
namespace {

TEST(Presets, AreFoundByNameInAnyCase) {
  ASSERT_NE(find_preset("H200"), nullptr);
  EXPECT_EQ(find_preset("H200")->name, "NVIDIA H200");
  EXPECT_EQ(find_preset("h20"), nullptr);
  EXPECT_EQ(presets().front().id, "h200");
  const auto two = find_presets("rtx5090,A100");
  ASSERT_TRUE(two);
  EXPECT_EQ((*two)[0]->id, "rtx5090");
  EXPECT_EQ((*two)[1]->id, "a100");
  EXPECT_EQ(find_presets("h200,,x").diags().size(), 2u);
}

TEST(Presets, ACountRepeatsTheList) {
  const auto three = find_presets("h200,a100", 3);
  ASSERT_TRUE(three);
  ASSERT_EQ(three->size(), 3u);
  EXPECT_EQ((*three)[2]->id, "h200");
  EXPECT_EQ(find_presets("h200,a100", 1)->size(), 1u);
  EXPECT_EQ(find_presets("h200", 16)->size(), 16u);
  const auto many = find_presets("h200", 1000);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.diags().front().message, "1000 virtual GPUs: at most 16 are possible");
}

TEST(Presets, EveryFactHasAnOriginAndTheH200IsMeasured) {
  for (const Preset& p : presets()) {
    for (const auto& row : attribute_rows())
      EXPECT_NE(p.fact(row.attribute).origin, Origin::None) << p.id << ' ' << row.name;
    for (const auto& row : quantity_rows())
      EXPECT_NE(p.fact(row.quantity).origin, Origin::None) << p.id << ' ' << row.name;
  }
  for (const auto& row : attribute_rows())
    EXPECT_EQ(presets().front().fact(row.attribute).origin, Origin::Measured) << row.name;
}

// Relations between facts that hold on every device of these architectures.
TEST(Presets, FactsFitTogether) {
  for (const Preset& p : presets()) {
    SCOPED_TRACE(p.id);
    const i64 per_sm = p[Attribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR];
    EXPECT_EQ(per_sm - p[Attribute::RESERVED_SHARED_MEMORY_PER_BLOCK], p[Attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN]);
    EXPECT_EQ(p.carveouts_kb.back() * 1024, per_sm);
    EXPECT_TRUE(std::is_sorted(p.carveouts_kb.begin(), p.carveouts_kb.end()));
    EXPECT_EQ(p[Attribute::MAX_THREADS_PER_MULTIPROCESSOR] % p[Attribute::WARP_SIZE], 0);
    EXPECT_LT(p[Attribute::MAX_PERSISTING_L2_CACHE_SIZE], p[Attribute::L2_CACHE_SIZE]);
    EXPECT_LT(p[Quantity::FreeMemoryAtStart], p[Quantity::TotalMemory]);
    EXPECT_EQ(p[Attribute::CLUSTER_LAUNCH] != 0, p[Attribute::COMPUTE_CAPABILITY_MAJOR] >= 9);
    EXPECT_EQ(p[Quantity::MaxClusterPortable] > 1, p[Attribute::CLUSTER_LAUNCH] != 0);
    EXPECT_EQ(p[Attribute::GPU_PCI_DEVICE_ID] & 0xffff, 0x10de);
  }
}

TEST(Presets, SpecificationOfTheDefaultIsTheH200s) {
  const DeviceSpec made = spec_of(presets().front()), built_in;
  EXPECT_EQ(made.name, built_in.name);
  EXPECT_EQ(made.sms, built_in.sms);
  EXPECT_EQ(made.total_memory, built_in.total_memory);
  EXPECT_EQ(made.context_memory, built_in.context_memory);
  EXPECT_EQ(made.shared_per_sm, built_in.shared_per_sm);
  EXPECT_EQ(made.shared_per_block_optin, built_in.shared_per_block_optin);
  EXPECT_EQ(made.shared_carveouts_kb, built_in.shared_carveouts_kb);
  EXPECT_EQ(made.max_cluster, built_in.max_cluster);
  EXPECT_EQ(made.stream_priority_greatest, built_in.stream_priority_greatest);
  EXPECT_EQ(made.limit_printf_fifo, built_in.limit_printf_fifo);
}

}  // namespace
}  // namespace us::driver
