// SPDX-License-Identifier: Apache-2.0
// Names of the runtime API in device code, and the words of their arguments.
#include <gtest/gtest.h>

#include <string>

#include "device/device_runtime.h"

using namespace us;
using namespace us::device;

namespace {

DeviceApiForm form(const std::string& name) {
  DeviceApiForm f;
  EXPECT_TRUE(find_device_api("__cudaCDP2" + name, f)) << name;
  return f;
}

TEST(DeviceApi, StructuresAreTakenApart) {
  const DeviceApiForm f = form("GetParameterBufferV2");
  EXPECT_EQ(f.number, u32(DeviceApi::GetParameterBufferV2));
  EXPECT_EQ(f.result_bytes, 8u);
  ASSERT_EQ(f.words, 8u);  // function, grid, block, shared memory
  const u8 arguments[] = {0, 1, 1, 1, 2, 2, 2, 3}, at[] = {0, 0, 4, 8, 0, 4, 8, 0}, bytes[] = {8, 4, 4, 4, 4, 4, 4, 4};
  for (u32 i = 0; i < 8; ++i) {
    EXPECT_EQ(f.word[i].argument, arguments[i]) << i;
    EXPECT_EQ(f.word[i].byte, at[i]) << i;
    EXPECT_EQ(f.word[i].bytes, bytes[i]) << i;
  }
}

TEST(DeviceApi, AllFormsFit) {
#define US_DEVICE_API(id, arguments, result)   \
  EXPECT_LE(form(#id).words, kDeviceApiWords); \
  EXPECT_GE(form(#id).words, sizeof(arguments) - 1) << #id;
#include "device/abi/device_api.inc"
#undef US_DEVICE_API
}

TEST(DeviceApi, PerThreadNamesAndUnknownOnes) {
  EXPECT_EQ(form("LaunchDeviceV2_ptsz").number, u32(DeviceApi::LaunchDeviceV2) | kDeviceApiPerThread);
  DeviceApiForm f;
  EXPECT_FALSE(find_device_api("__cudaCDP2DoNothing", f));
  EXPECT_FALSE(find_device_api("vprintf", f));
  EXPECT_TRUE(is_device_api("__cudaCDP2DoNothing"));
}

}  // namespace
