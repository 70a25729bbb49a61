// SPDX-License-Identifier: Apache-2.0
// Asks a GPU where wmma.load puts the elements of a matrix. Build and run as record_mma.cu.
// One line for each operand, layout, shape and type: the number of the element (row times columns plus column) in each
// place of the registers, register by register, lane by lane, lowest bits first.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

struct Fragment {
  char operand;  // a, b, c
  int m, n, k;
  std::string type;
  int bits, regs;
};
static std::string num(long x) { return std::to_string(x); }

int main() {
  cudaFree(nullptr);
  std::vector<Fragment> all;
  auto add = [&](int m, int n, int k, std::string type, int bits, int a, int b) {
    all.push_back({'a', m, n, k, type, bits, a});
    all.push_back({'b', m, n, k, type, bits, b});
  };
  const int shapes[3][2] = {{16, 16}, {8, 32}, {32, 8}};
  for (auto& s : shapes) {
    const int m = s[0], n = s[1];
    add(m, n, 16, "f16", 16, 8, 8), add(m, n, 16, "bf16", 16, m / 4, n / 4), add(m, n, 16, "s8", 8, m / 8, n / 8);
    all.push_back({'c', m, n, 16, "f16", 16, 4}), all.push_back({'c', m, n, 16, "f32", 32, 8});
    all.push_back({'c', m, n, 16, "s32", 32, 8});
  }
  add(16, 16, 8, "tf32", 32, 4, 4), all.push_back({'c', 16, 16, 8, "f32", 32, 8});
  add(8, 8, 4, "f64", 64, 1, 1), all.push_back({'c', 8, 8, 4, "f64", 64, 2});
  all.push_back({'c', 8, 8, 32, "s32", 32, 2}), all.push_back({'c', 8, 8, 128, "s32", 32, 2});
  uint64_t *in, *out;
  cudaMallocManaged(&in, 8192), cudaMallocManaged(&out, 8192);
  for (const Fragment& f : all)
    for (const char* layout : {"row", "col"}) {
      const int rows = f.operand == 'b' ? f.k : f.m, columns = f.operand == 'a' ? f.k : f.n;
      const std::string name = std::string("wmma.load.") + f.operand + ".sync.aligned." + layout + ".m" + num(f.m) + "n" +
                               num(f.n) + "k" + num(f.k) + "." + f.type;
      const char* word = f.bits == 64 ? ".f64" : f.type == "f32" ? ".f32" : ".b32";
      std::string s = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                      " .reg .b64 %i, %o, %t;\n .reg .b32 %l;\n .reg " + std::string(word) + " %r<" + num(f.regs) + ">;\n"
                      " ld.param.u64 %i, [in];\n ld.param.u64 %o, [out];\n mov.u32 %l, %tid.x;\n mul.wide.u32 %t, %l, " +
                      num(f.bits == 64 ? 8 : 4) + ";\n add.s64 %o, %o, %t;\n " + name + " {";
      for (int r = 0; r < f.regs; ++r) s += (r ? ", %r" : "%r") + num(r);
      s += "}, [%i];\n";
      const int bytes = f.bits == 64 ? 8 : 4;
      for (int r = 0; r < f.regs; ++r) s += std::string(" st.global") + word + " [%o+" + num(r * 32 * bytes) + "], %r" + num(r) + ";\n";
      s += " ret;\n}\n";
      CUmodule module;
      CUfunction k;
      if (cuModuleLoadData(&module, s.c_str()) || cuModuleGetFunction(&k, module, "k")) {
        std::printf("%s REFUSED\n", name.c_str());
        continue;
      }
      std::vector<int> place(f.regs * 32 * (f.bits == 64 ? 1 : 32 / f.bits));
      for (int part = 0; part < (f.bits == 8 ? 2 : 1); ++part) {
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) {
            const int at = std::strcmp(layout, "row") ? j * rows + i : i * columns + j;
            const uint64_t value = uint64_t(i * columns + j) >> (8 * part);
            std::memcpy(reinterpret_cast<char*>(in) + at * f.bits / 8, &value, f.bits / 8);
          }
        void* args[] = {&in, &out};
        cuLaunchKernel(k, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr);
        if (cudaDeviceSynchronize()) return std::printf("%s failed\n", name.c_str()), 1;
        for (size_t p = 0; p < place.size(); ++p) {
          uint64_t value = 0;
          std::memcpy(&value, reinterpret_cast<char*>(out) + p * f.bits / 8, f.bits / 8);
          place[p] |= int(value << (8 * part));
        }
      }
      std::printf("%s", name.c_str());
      for (int p : place) std::printf(" %d", p);
      std::printf("\n");
      cuModuleUnload(module);
    }
}
