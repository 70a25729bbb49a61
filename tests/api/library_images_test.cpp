// SPDX-License-Identifier: Apache-2.0
// Images that are no code for the device, as a library: oracle/api/images.tsv holds what a driver answered.
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Row = std::vector<std::string>;

std::map<std::string, Row> recorded() {
  std::map<std::string, Row> out;
  std::ifstream in(US_SOURCE_DIR "/oracle/api/images.tsv");
  for (std::string line, cell; std::getline(in, line);) {
    Row row;
    std::istringstream cells(line);
    while (std::getline(cells, cell, '\t')) row.push_back(cell);
    if (row.size() > 5 && row[0] == "image") out[row[1]] = row;
  }
  return out;
}

std::string name(CUresult r) {
  const char* text = nullptr;
  cuGetErrorName(r, &text);
  const std::string all = text ? text : "?";
  return all.substr(all.find('_') + 1);
}

std::string contents(const char* file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// An entry that is there, and zeros where the next one begins.
std::string half_a_fat_binary() {
  std::string out(16 + 64 + 64 + 256, '\0');
  const auto put = [&](std::size_t at, auto v) { std::memcpy(out.data() + at, &v, sizeof v); };
  put(0, std::uint32_t{0xBA55ED50}), put(4, std::uint16_t{1}), put(6, std::uint16_t{16});
  put(8, std::uint64_t{out.size() - 16});
  put(16, std::uint16_t{1}), put(20, std::uint32_t{64}), put(24, std::uint64_t{64}), put(44, std::uint32_t{90});
  return out;
}

TEST(LibraryImages, AreRefusedWhenSomebodyLooksInside) {
  constexpr const char* kHead = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n";
  const std::map<std::string, std::string> images = {
      {"archive_empty", "!<arch>\n"},
      {"empty", ""},
      {"host_program", contents("/proc/self/exe")},
      {"lto_ir", "\xed\x43\x4e\x7f\x01\x41\x02\x62\x03\x02\x07"},
      {"fatbin_90_half", half_a_fat_binary()},
      {"ptx_truncated", std::string(kHead) + ".reg .b32 %r<3>;\nadd.s32 %r2"},
      {"ptx_without_version", ".target sm_90\n.visible .entry k()\n{\nret;\n}\n"},
      {"ptx_wrong", std::string(kHead) + ".reg .b32 %r<3>;\nno_instruction.u32 %r1, %r2;\nret;\n}\n"},
      {"text", "hello\n"},
  };
  const auto rows = recorded();
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUdevice device = 0;
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  for (auto [image, bytes] : images) {
    const auto row = rows.find(image);
    ASSERT_NE(row, rows.end()) << image;
    bytes.resize(bytes.size() + 4096);
    CUmodule module = nullptr;
    EXPECT_EQ(name(cuModuleLoadData(&module, bytes.data())), row->second[2]) << image;
    CUlibrary library = nullptr;
    ASSERT_EQ(name(cuLibraryLoadData(&library, bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0)), row->second[4])
        << image;
    if (row->second[4] != "SUCCESS") continue;
    unsigned count = 1;
    EXPECT_EQ(cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
    EXPECT_EQ(std::to_string(count), row->second[5]) << image;
    CUkernel kernel = nullptr;
    EXPECT_EQ(name(cuLibraryGetKernel(&kernel, library, "k")), row->second[6]) << image;
    EXPECT_EQ(name(cuLibraryGetModule(&module, library)), row->second[7]) << image;
    EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS) << image;
  }
}

}  // namespace
