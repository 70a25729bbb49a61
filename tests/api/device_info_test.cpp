// SPDX-License-Identifier: Apache-2.0
// Both APIs must report an H200 exactly as its own runtime does; h200_device_info.tsv was recorded on one.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

namespace {

using Facts = std::map<std::string, std::string>;

const Facts& recorded() {
  static const Facts facts = [] {
    Facts f;
    std::ifstream in(US_SOURCE_DIR "/tests/api/h200_device_info.tsv");
    for (std::string line; std::getline(in, line);)
      f[line.substr(0, line.find('\t'))] = line.substr(line.find('\t') + 1);
    return f;
  }();
  return facts;
}

const std::map<std::string, int> attribute_numbers = {
#define US_ATTRIBUTE(number, name) {#name, number},
#include "driver/presets/attributes.inc"
#undef US_ATTRIBUTE
};

int number_of(const std::string& name) {
  const auto it = attribute_numbers.find(
      name == "VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED" ? "VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED" : name);
  return it == attribute_numbers.end() ? 0 : it->second;
}

TEST(DeviceInfo, AttributesOfBothApisAreThoseOfAnH200) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  int compared = 0;
  for (const auto& [key, value] : recorded()) {
    if (!key.starts_with("attr.")) continue;
    const int number = number_of(key.substr(5));
    ASSERT_NE(number, 0) << key;
    int driver = -77, runtime = -77;
    EXPECT_EQ(cuDeviceGetAttribute(&driver, static_cast<CUdevice_attribute>(number), 0), CUDA_SUCCESS) << key;
    EXPECT_EQ(cudaDeviceGetAttribute(&runtime, static_cast<cudaDeviceAttr>(number), 0), cudaSuccess) << key;
    EXPECT_EQ(std::to_string(driver), value) << key;
    EXPECT_EQ(std::to_string(runtime), value) << key;
    ++compared;
  }
  EXPECT_EQ(compared, 147);
}

Facts properties() {
  cudaDeviceProp p;
  EXPECT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  Facts f{{"prop.name", p.name}};
  f["prop.totalGlobalMem"] = std::to_string(p.totalGlobalMem);
  f["prop.luidDeviceNodeMask"] = std::to_string(p.luidDeviceNodeMask);
#define US_PROPERTY(field, attribute) f["prop." #field] = std::to_string(p.field);
#include "cuda/libcudart/properties.inc"
#undef US_PROPERTY
  return f;
}

TEST(DeviceInfo, PropertiesAreThoseOfAnH200) {
  Facts expected;
  for (const auto& [key, value] : recorded())
    if (key.starts_with("prop.")) expected[key] = value;
  EXPECT_EQ(properties(), expected);
}

TEST(DeviceInfo, NameAndMemoryThroughTheDriver) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUdevice device = -1;
  ASSERT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
  char name[64];
  ASSERT_EQ(cuDeviceGetName(name, sizeof name, device), CUDA_SUCCESS);
  EXPECT_EQ(name, recorded().at("prop.name"));
  size_t bytes = 0;
  ASSERT_EQ(cuDeviceTotalMem(&bytes, device), CUDA_SUCCESS);
  EXPECT_EQ(std::to_string(bytes), recorded().at("memory.total"));
}

TEST(DeviceInfo, Versions) {
  int driver = 0, runtime = 0, through_driver = 0;
  EXPECT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
  EXPECT_EQ(cudaRuntimeGetVersion(&runtime), cudaSuccess);
  EXPECT_EQ(cuDriverGetVersion(&through_driver), CUDA_SUCCESS);
  EXPECT_EQ(std::to_string(driver), recorded().at("driverVersion"));
  EXPECT_EQ(std::to_string(runtime), recorded().at("runtimeVersion"));
  EXPECT_EQ(through_driver, driver);
}

TEST(DeviceInfo, UuidIsTheSameInBothApis) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUuuid uuid;
  cudaDeviceProp p;
  ASSERT_EQ(cuDeviceGetUuid(&uuid, 0), CUDA_SUCCESS);
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  EXPECT_EQ(std::string(uuid.bytes, 16), std::string(p.uuid.bytes, 16));
}

TEST(DeviceInfo, PciBusIdsFindTheirDevice) {
  char text[32];
  ASSERT_EQ(cudaDeviceGetPCIBusId(text, sizeof text, 0), cudaSuccess);
  int device = -1;
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, text), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, "7777:77:77.0"), cudaErrorInvalidDevice);
}

TEST(DeviceInfo, WrongQuestionsGetTheRightErrors) {
  int value = 0;
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, -1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(100000), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
