// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1, as pynvml and others use it: loaded at run time, before and beside CUDA.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "tools/elf_file.h"

namespace {

constexpr int kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6,
              kInsufficientSize = 7, kVersionMismatch = 25;
constexpr const char* kLibrary = US_BINARY_DIR "/lib/libnvidia-ml.so.1";

struct Memory {
  unsigned long long total, free, used;
};
struct Memory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

template <class... A>
int call(const char* name, A... arguments) {
  static void* const library = dlopen(kLibrary, RTLD_NOW);
  void* const f = library ? dlsym(library, name) : nullptr;
  EXPECT_TRUE(f) << name << " of " << kLibrary;
  return f ? reinterpret_cast<int (*)(A...)>(f)(arguments...) : -1;
}

class Nvml : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(call("nvmlInit_v2"), kSuccess);
    ASSERT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 0u, &device), kSuccess);
  }
  void TearDown() override { EXPECT_EQ(call("nvmlShutdown"), kSuccess); }
  void* device = nullptr;
};

TEST(NvmlLibrary, ExportsEveryRowAndNothingElse) {
  std::vector<std::string> rows = {
#define US_ENTRY(name, level, note) #name,
#include "cuda/libnvml/entry_points.inc"
#undef US_ENTRY
  };
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  auto elf = us::tools::ElfFile::open(kLibrary);
  ASSERT_TRUE(elf);
  std::set<std::string> exported;
  for (const auto& s : elf->dynamic_symbols)
    if (s.defined) exported.insert(s.name);
  EXPECT_EQ(exported, std::set<std::string>(rows.begin(), rows.end()));
}

TEST(NvmlLibrary, CountsItsUsers) {
  unsigned n = 0;
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &n), kUninitialized);
  EXPECT_EQ(call("nvmlDeviceGetFanSpeed", nullptr, &n), kUninitialized);
  EXPECT_EQ(call("nvmlShutdown"), kUninitialized);
  EXPECT_EQ(call("nvmlInit"), kSuccess);
  EXPECT_EQ(call("nvmlInitWithFlags", 1u), kSuccess);
  EXPECT_EQ(call("nvmlShutdown"), kSuccess);
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &n), kSuccess);
  EXPECT_EQ(n, 1u);
  EXPECT_EQ(call("nvmlShutdown"), kSuccess);
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &n), kUninitialized);
}

// torch asks NVML for the number of devices so that it can fork afterwards.
TEST(NvmlLibrary, LeavesCudaForTheChild) {
  ASSERT_EQ(call("nvmlInit_v2"), kSuccess);
  void* device = nullptr;
  ASSERT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 0u, &device), kSuccess);
  Memory m = {};
  ASSERT_EQ(call("nvmlDeviceGetMemoryInfo", device, &m), kSuccess);
  EXPECT_EQ(m.used, 0u);
  const pid_t child = fork();
  if (child == 0) _exit(cudaFree(nullptr) == cudaSuccess ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ASSERT_EQ(call("nvmlShutdown"), kSuccess);
}

TEST_F(Nvml, TellsVersions) {
  int cuda = 0;
  EXPECT_EQ(call("nvmlSystemGetCudaDriverVersion_v2", &cuda), kSuccess);
  EXPECT_EQ(cuda, 13000);
  char text[80] = "";
  EXPECT_EQ(call("nvmlSystemGetDriverVersion", text, 4u), kInsufficientSize);
  EXPECT_EQ(call("nvmlSystemGetDriverVersion", text, 80u), kSuccess);
  EXPECT_EQ(std::string(text).substr(0, 4), "580.");
  EXPECT_EQ(call("nvmlSystemGetNVMLVersion", text, 80u), kSuccess);
  EXPECT_EQ(std::string(text).substr(0, 7), "13.580.");
}

TEST_F(Nvml, NamesTheDevice) {
  char name[96] = "", uuid[80] = "";
  EXPECT_EQ(call("nvmlDeviceGetName", device, name, 96u), kSuccess);
  EXPECT_STREQ(name, "NVIDIA H200");
  EXPECT_EQ(call("nvmlDeviceGetName", device, name, 5u), kInsufficientSize);
  EXPECT_EQ(call("nvmlDeviceGetUUID", device, uuid, 80u), kSuccess);
  cudaDeviceProp p;
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  char expected[48];
  const auto* b = reinterpret_cast<const unsigned char*>(p.uuid.bytes);
  std::snprintf(expected, sizeof expected, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
  EXPECT_STREQ(uuid, expected);
  void* same = nullptr;
  EXPECT_EQ(call("nvmlDeviceGetHandleByUUID", uuid, &same), kSuccess);
  EXPECT_EQ(same, device);
  EXPECT_EQ(call("nvmlDeviceGetHandleByUUID", "GPU-0", &same), kNotFound);
  struct {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char bus_id[32];
  } pci;
  EXPECT_EQ(call("nvmlDeviceGetPciInfo_v3", device, &pci), kSuccess);
  std::snprintf(expected, sizeof expected, "%08X:%02X:%02X.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
  EXPECT_STREQ(pci.bus_id, expected);
  EXPECT_STREQ(pci.legacy, expected + 4);
  EXPECT_EQ(pci.id & 0xffff, 0x10deu);
  EXPECT_EQ(call("nvmlDeviceGetHandleByPciBusId_v2", pci.bus_id, &same), kSuccess);
  EXPECT_EQ(same, device);
  EXPECT_EQ(call("nvmlDeviceGetHandleByPciBusId_v2", "0000:77:00.0", &same), kNotFound);
}

TEST_F(Nvml, DescribesTheDevice) {
  int major = 0, minor = 0;
  EXPECT_EQ(call("nvmlDeviceGetCudaComputeCapability", device, &major, &minor), kSuccess);
  EXPECT_EQ(major * 10 + minor, 90);
  unsigned architecture = 0, cores = 0, mhz = 0;
  EXPECT_EQ(call("nvmlDeviceGetArchitecture", device, &architecture), kSuccess);
  EXPECT_EQ(architecture, 9u);  // NVML_DEVICE_ARCH_HOPPER
  EXPECT_EQ(call("nvmlDeviceGetNumGpuCores", device, &cores), kSuccess);
  EXPECT_EQ(cores, 16896u);  // data sheet
  EXPECT_EQ(call("nvmlDeviceGetMaxClockInfo", device, 1u, &mhz), kSuccess);
  EXPECT_EQ(mhz, 1980u);
  EXPECT_EQ(call("nvmlDeviceGetMaxClockInfo", device, 3u, &mhz), kNotSupported);
  EXPECT_EQ(call("nvmlDeviceGetMaxClockInfo", device, 9u, &mhz), kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceGetTemperature", device, 0u, &mhz), kNotSupported);
}

TEST_F(Nvml, RefusesWhatIsNoDevice) {
  void* other = nullptr;
  unsigned n = 0;
  EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 1u, &other), kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 0u, nullptr), kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceGetIndex", nullptr, &n), kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceGetIndex", &n, &n), kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceGetMemoryInfo", device, nullptr), kInvalidArgument);
}

TEST_F(Nvml, MemoryIsTheProgramsHeap) {
  constexpr unsigned kSecond = 2u << 24 | sizeof(Memory2);
  void* p = nullptr;
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  Memory before = {}, after = {};
  ASSERT_EQ(call("nvmlDeviceGetMemoryInfo", device, &before), kSuccess);
  ASSERT_EQ(cudaMalloc(&p, 64 << 20), cudaSuccess);
  ASSERT_EQ(call("nvmlDeviceGetMemoryInfo", device, &after), kSuccess);
  EXPECT_EQ(after.used - before.used, 64ull << 20);
  EXPECT_EQ(after.used + after.free, after.total);
  size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(after.free, free);
  EXPECT_EQ(after.total, total);
  Memory2 second = {};
  EXPECT_EQ(call("nvmlDeviceGetMemoryInfo_v2", device, &second), kVersionMismatch);
  second.version = kSecond;
  EXPECT_EQ(call("nvmlDeviceGetMemoryInfo_v2", device, &second), kSuccess);
  EXPECT_EQ(second.used, after.used);
  struct {
    unsigned pid;
    unsigned long long used;
    unsigned gpu, compute;
  } process = {};
  unsigned n = 0;
  EXPECT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", device, &n, nullptr), kInsufficientSize);
  EXPECT_EQ(n, 1u);
  EXPECT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", device, &n, &process), kSuccess);
  EXPECT_EQ(process.pid, static_cast<unsigned>(getpid()));
  EXPECT_EQ(process.used, after.used);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
}

TEST(NvmlLibrary, NamesErrors) {
  void* const library = dlopen(kLibrary, RTLD_NOW);
  const auto text = reinterpret_cast<const char* (*)(int)>(dlsym(library, "nvmlErrorString"));
  ASSERT_TRUE(text);
  EXPECT_STREQ(text(0), "Success");
  EXPECT_STREQ(text(3), "Not Supported");
  EXPECT_STREQ(text(998), text(999));
}

}  // namespace
