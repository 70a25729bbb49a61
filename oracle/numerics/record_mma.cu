// SPDX-License-Identifier: Apache-2.0
// Records the results of matrix instructions. Build and run on an H200:
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a -Ioracle/numerics -o record_mma
//     oracle/numerics/record_mma.cu -lcuda
//   ./record_mma [--filter=TEXT] [--instances=N] [--dump=FILE:N] [--fine=FILE] >oracle/numerics/mma.txt
// One line for each form: its name, then the sums of hashes over the instances [0, 2^8), [2^8, 2^10), .. [2^18, 2^20).
// --dump writes the results of the first N instances of each form, --fine a hash for every 256 instances.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mma_forms.h"

using namespace mma_inputs;

constexpr u32 kBatch = 1 << 14, kGroup = 256;

__global__ void make(Form* f, u64 seed, u64 first, u32 inputs, u32 wide, void* out) {
  const u32 lane = threadIdx.x;
  const u64 i = blockIdx.x;
  for (u32 n = threadIdx.y; n < inputs; n += blockDim.y) {
    const u64 r = f->input_of(seed, first + i, n, lane), at = (i * inputs + n) * 32 + lane;
    if (wide)
      static_cast<u64*>(out)[at] = r;
    else
      static_cast<u32*>(out)[at] = static_cast<u32>(r);
  }
}
// One block for each group; words: of one instance.
__global__ void hash(const void* in, u32 words, u32 wide, u64* sums) {
  __shared__ u64 total;
  if (!threadIdx.x) total = 0;
  __syncthreads();
  u64 sum = 0;
  for (u32 k = threadIdx.x; k < kGroup * words; k += blockDim.x) {
    const u64 at = static_cast<u64>(blockIdx.x) * kGroup * words + k;
    const u64 word = wide ? static_cast<const u64*>(in)[at] : static_cast<const u32*>(in)[at];
    sum += hashed(word, k);
  }
  atomicAdd(reinterpret_cast<unsigned long long*>(&total), sum);
  __syncthreads();
  if (!threadIdx.x) sums[blockIdx.x] = total;
}

static std::string list(const char* letter, u32 n) {
  std::string s = "{";
  for (u32 k = 0; k < n; ++k) s += (k ? ", " : "") + std::string("%") + letter + std::to_string(k);
  return s + "}";
}
static std::string kernel_of(const Form& f) {
  const u32 bytes = f.wide ? 8 : 4;
  const char* raw = f.wide ? ".b64" : ".b32";
  std::string s = ".version 8.7\n.target sm_90a\n.address_size 64\n"
                  ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n .reg .b64 %i, %o, %t;\n .reg .b32 %e, %x, %l;\n";
  auto declare = [&](const char* letter, const Operand& o) {
    s += " .reg " + std::string(o.type) + " %" + letter + "<" + std::to_string(o.regs) + ">;\n";
  };
  declare("a", f.a), declare("b", f.b), declare("c", f.c), declare("d", f.d);
  auto place = [&](const char* pointer, const char* param, u32 words) {
    s += std::string(" ld.param.u64 ") + pointer + ", [" + param + "];\n mov.u32 %x, %ctaid.x;\n mul.wide.u32 %t, %x, " +
         std::to_string(words * 32 * bytes) + ";\n add.s64 " + pointer + ", " + pointer + ", %t;\n mov.u32 %l, %tid.x;\n" +
         " mul.wide.u32 %t, %l, " + std::to_string(bytes) + ";\n add.s64 " + pointer + ", " + pointer + ", %t;\n";
  };
  place("%i", "in", f.inputs());
  place("%o", "out", f.d.regs);
  u32 n = 0;
  auto load = [&](const char* letter, u32 regs) {
    for (u32 k = 0; k < regs; ++k)
      s += std::string(" ld.global") + raw + " %" + letter + std::to_string(k) + ", [%i+" +
           std::to_string(n++ * 32 * bytes) + "];\n";
  };
  load("a", f.a.regs), load("b", f.b.regs), load("c", f.c.regs);
  if (f.selector >= 0) s += " ld.global.b32 %e, [%i+" + std::to_string(n++ * 32 * bytes) + "];\n";
  s += " " + f.mnemonic + " " + list("d", f.d.regs) + ", " + list("a", f.a.regs) + ", " + list("b", f.b.regs) + ", " +
       list("c", f.c.regs) + (f.selector >= 0 ? ", %e, " + std::to_string(f.selector) : "") + ";\n";
  for (u32 k = 0; k < f.d.regs; ++k)
    s += std::string(" st.global") + raw + " [%o+" + std::to_string(k * 32 * bytes) + "], %d" + std::to_string(k) + ";\n";
  return s + " ret;\n}\n";
}

int main(int argc, char** argv) {
  std::string filter;
  u32 instances = 1u << 20, dumped = 0;
  FILE *dump = nullptr, *fine = nullptr;
  bool print = false;
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    if (a.rfind("--filter=", 0) == 0) filter = a.substr(9);
    if (a.rfind("--instances=", 0) == 0) instances = std::atoi(a.c_str() + 12);
    if (a.rfind("--fine=", 0) == 0) fine = std::fopen(a.c_str() + 7, "wb");
    if (a == "--print") print = true;
    if (a.rfind("--dump=", 0) == 0) {
      const std::size_t colon = a.rfind(':');
      dump = std::fopen(a.substr(7, colon - 7).c_str(), "wb");
      dumped = std::atoi(a.c_str() + colon + 1);
    }
  }
  if (print) {
    int n = 0;
    for (const Form& f : all_forms())
      if (f.name().find(filter) != std::string::npos) {
        FILE* out = std::fopen(("form" + std::to_string(n++) + ".ptx").c_str(), "w");
        std::fprintf(out, "// %s\n%s", f.name().c_str(), kernel_of(f).c_str());
        std::fclose(out);
      }
    return 0;
  }
  cudaFree(nullptr);
  void *in, *out;
  u64* sums;
  Form* form;
  cudaMalloc(&in, kBatch * 32ull * 20 * 8);
  cudaMalloc(&out, kBatch * 32ull * 8 * 8);
  cudaMalloc(&sums, kBatch / kGroup * 8);
  cudaMalloc(&form, sizeof(Form));
  for (const Form& f : all_forms()) {
    if (f.name().find(filter) == std::string::npos) continue;
    CUmodule module;
    CUfunction k;
    char log[2000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    if (cuModuleLoadDataEx(&module, kernel_of(f).c_str(), 2, options, values) || cuModuleGetFunction(&k, module, "k")) {
      for (char* p = log; *p; ++p)
        if (*p == '\n') *p = ' ';
      std::printf("%s REFUSED %s\n", f.name().c_str(), log);
      continue;
    }
    cudaMemcpy(form, &f, sizeof f, cudaMemcpyHostToDevice);
    const u32 words = f.d.regs * 32, total = std::min(instances, f.instances);
    u64 level = 0, edge = kGroup;
    std::printf("%s", f.name().c_str());
    for (u32 first = 0; first < total; first += kBatch) {
      const u32 n = std::min(kBatch, total - first);
      make<<<n, dim3(32, 4)>>>(form, f.seed(), first, f.inputs(), f.wide, in);
      void* args[] = {&in, &out};
      cuLaunchKernel(k, n, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr);
      hash<<<n / kGroup, 256>>>(out, words, f.wide, sums);
      std::vector<u64> h(n / kGroup);
      cudaMemcpy(h.data(), sums, h.size() * 8, cudaMemcpyDeviceToHost);
      for (u32 g = 0; g < h.size(); ++g) {
        level += h[g];
        if (first + (g + 1) * kGroup == edge) {
          std::printf(" %016llx", static_cast<unsigned long long>(level));
          level = 0, edge *= 4;
        }
      }
      if (fine) std::fwrite(h.data(), 8, h.size(), fine);
      if (dump && first == 0) {
        std::vector<u64> d(static_cast<std::size_t>(dumped) * words);
        const std::size_t bytes = d.size() * (f.wide ? 8 : 4);
        cudaMemcpy(d.data(), out, bytes, cudaMemcpyDeviceToHost);
        std::fwrite(d.data(), 1, bytes, dump);
      }
    }
    const cudaError_t e = cudaDeviceSynchronize();
    std::printf("%s\n", e ? cudaGetErrorString(e) : "");
    cuModuleUnload(module);
    if (e) return 1;
  }
  if (dump) std::fclose(dump);
  if (fine) std::fclose(fine);
}
