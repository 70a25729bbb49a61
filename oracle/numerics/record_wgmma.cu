// SPDX-License-Identifier: Apache-2.0
// Records the results of wgmma.mma_async. Build and run on an H200:
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a -Ioracle/numerics -o record_wgmma
//     oracle/numerics/record_wgmma.cu -lcuda
//   ./record_wgmma [--filter=TEXT] [--instances=N] [--dump=FILE:N] >oracle/numerics/wgmma.txt
// One line for each form of wgmma_forms.h: its name, then the sums of hashes over the instances [0, 2^4), [2^4, 2^6)
// and so on.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>

#include "wgmma_forms.h"

using namespace mma_inputs;

constexpr u32 kGroup = 16, kBatch = 1024;

__global__ void make(const WideForm* f, u64 seed, u64 first, u32 words, u32* out) {
  for (u32 w = threadIdx.x; w < words; w += blockDim.x)
    out[u64(blockIdx.x) * words + w] = static_cast<u32>(f->input_of(seed, first + blockIdx.x, w));
}
__global__ void hash(const u32* in, u32 words, u64* sums) {
  __shared__ u64 total;
  if (!threadIdx.x) total = 0;
  __syncthreads();
  u64 sum = 0;
  for (u32 k = threadIdx.x; k < kGroup * words; k += blockDim.x) sum += hashed(in[u64(blockIdx.x) * kGroup * words + k], k);
  atomicAdd(reinterpret_cast<unsigned long long*>(&total), sum);
  __syncthreads();
  if (!threadIdx.x) sums[blockIdx.x] = total;
}

static std::string num(u64 x) { return std::to_string(x); }
static std::string list(const char* letter, u32 n) {
  std::string s = "{";
  for (u32 k = 0; k < n; ++k) s += (k ? ", %" : "%") + std::string(letter) + num(k);
  return s + "}";
}
static std::string kernel_of(const WideForm& f) {
  const bool half = f.a != kF16 && f.a != kBF16;
  const bool integer = f.types[0] == 's', can_transpose = !half;
  const std::string type = integer ? ".b32" : f.narrow_c() ? ".b32" : ".f32";
  std::string s = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                  " .shared .align 1024 .b8 sm[" + num(f.shared_bytes) + "];\n"
                  " .reg .b64 %i, %o, %t, %p, %u, %v, %s;\n .reg .b32 %x, %y, %l, %e, %w, %n;\n .reg .pred %q, %z;\n"
                  " .reg .b32 %a<4>;\n .reg " + type + " %d<" + num(f.c_regs()) + ">;\n";
  s += " ld.param.u64 %i, [in];\n mov.u32 %x, %ctaid.x;\n mul.wide.u32 %t, %x, " + num(f.words() * 4) +
       ";\n add.s64 %i, %i, %t;\n mov.u32 %l, %tid.x;\n mul.wide.u32 %t, %l, 4;\n add.s64 %i, %i, %t;\n";
  s += " ld.param.u64 %o, [out];\n mul.wide.u32 %u, %x, " + num(f.c_regs() * 512) + ";\n add.s64 %o, %o, %u;\n add.s64 %o, %o, %t;\n";
  s += " mov.u32 %y, sm;\n shl.b32 %w, %l, 2;\n add.u32 %w, %w, %y;\n mov.u32 %n, 0;\n mov.u64 %p, %i;\n"
       "fill:\n ld.global.b32 %x, [%p];\n st.shared.b32 [%w], %x;\n add.s64 %p, %p, 512;\n add.u32 %w, %w, 512;\n"
       " add.u32 %n, %n, 512;\n setp.lt.u32 %q, %n, " + num(f.shared_bytes) + ";\n @%q bra fill;\n";
  u32 row = f.shared_words() / 128;
  auto load = [&](std::string r, const std::string& t) { s += " ld.global" + t + " " + r + ", [%i+" + num(512 * row++) + "];\n"; };
  for (u32 k = 0; k < 4 && f.registers; ++k) load("%a" + num(k), ".b32");
  for (u32 k = 0; k < f.c_regs(); ++k) load("%d" + num(k), type);
  if (f.sparse) load("%e", ".b32");
  auto descriptor = [&](const char* to, u32 start, u32 lead, u32 stride, u32 base, u32 swizzle) {
    const u64 rest = u64(lead >> 4) << 16 | u64(stride >> 4) << 32 | u64(base) << 49 | u64(swizzle) << 62;
    s += " add.u32 %x, %y, " + num(start) + ";\n shr.u32 %x, %x, 4;\n and.b32 %x, %x, 0x3fff;\n cvt.u64.u32 " + to +
         ", %x;\n or.b64 " + to + ", " + to + ", " + num(rest) + ";\n";
  };
  descriptor("%u", f.start_a, f.lead_a, f.stride_a, f.base_a, f.swizzle_a);
  descriptor("%v", f.start_b, f.lead_b, f.stride_b, f.base_b, f.swizzle_b);
  s += " fence.proxy.async;\n bar.sync 0;\n setp.eq.u32 %z, 0, " + std::string(f.keep ? "0" : "1") + ";\n wgmma.fence.sync.aligned;\n";
  s += std::string(" wgmma.mma_async") + (f.sparse ? ".sp" : "") + ".sync.aligned.m64n" + num(f.n) + "k" + num(f.k) + "." + f.types +
       f.suffix + " " + list("d", f.c_regs()) + ", " + (f.registers ? list("a", 4) : "%u") + ", %v";
  if (f.sparse) s += ", %e, " + num(f.selector);
  s += ", %z";
  if (!integer) {
    s += ", " + std::to_string(f.scale_a) + ", " + std::to_string(f.scale_b);
    if (can_transpose) {
      if (!f.registers) s += ", " + num(f.trans_a);
      s += ", " + num(f.trans_b);
    }
  }
  s += ";\n wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n";
  for (u32 k = 0; k < f.c_regs(); ++k) s += " st.global" + type + " [%o+" + num(512 * k) + "], %d" + num(k) + ";\n";
  return s + " ret;\n}\n";
}

int main(int argc, char** argv) {
  std::string filter;
  u32 instances = ~0u, dumped = 0;
  FILE* dump = nullptr;
  bool print = false;
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    if (a.rfind("--filter=", 0) == 0) filter = a.substr(9);
    if (a.rfind("--instances=", 0) == 0) instances = std::atoi(a.c_str() + 12);
    if (a == "--print") print = true;
    if (a.rfind("--dump=", 0) == 0) {
      const std::size_t colon = a.rfind(':');
      dump = std::fopen(a.substr(7, colon - 7).c_str(), "wb");
      dumped = std::atoi(a.c_str() + colon + 1);
    }
  }
  int n = 0;
  std::vector<WideForm> forms;
  for (const WideForm& f : wide_forms())
    if (f.name().find(filter) != std::string::npos) forms.push_back(f);
  if (print) {
    for (const WideForm& f : forms) {
      FILE* out = std::fopen(("wide" + std::to_string(n++) + ".ptx").c_str(), "w");
      std::fprintf(out, "// %s\n%s", f.name().c_str(), kernel_of(f).c_str());
      std::fclose(out);
    }
    return 0;
  }
  cudaFree(nullptr);
  u32 *in, *out;
  u64* sums;
  WideForm* form;
  cudaMalloc(&in, kBatch * (49152ull + 512 * 140));
  cudaMalloc(&out, kBatch * 512ull * 128);
  cudaMalloc(&sums, kBatch / kGroup * 8);
  cudaMalloc(&form, sizeof(WideForm));
  for (const WideForm& f : forms) {
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
    const u32 words = f.c_regs() * 128, total = std::min(instances, f.instances);
    u64 level = 0, edge = kGroup;
    std::printf("%s", f.name().c_str());
    for (u32 first = 0; first < total; first += kBatch) {
      const u32 count = std::min(kBatch, total - first);
      make<<<count, 256>>>(form, f.seed(), first, f.words(), in);
      void* args[] = {&in, &out};
      cuLaunchKernel(k, count, 1, 1, 128, 1, 1, 0, nullptr, args, nullptr);
      hash<<<count / kGroup, 256>>>(out, words, sums);
      std::vector<u64> h(count / kGroup);
      cudaMemcpy(h.data(), sums, h.size() * 8, cudaMemcpyDeviceToHost);
      for (u32 g = 0; g < h.size(); ++g) {
        level += h[g];
        if (first + (g + 1) * kGroup == edge) {
          std::printf(" %016llx", static_cast<unsigned long long>(level));
          level = 0, edge *= 4;
        }
      }
      if (dump && first == 0) {
        std::vector<u32> d(static_cast<std::size_t>(dumped) * words);
        cudaMemcpy(d.data(), out, d.size() * 4, cudaMemcpyDeviceToHost);
        std::fwrite(d.data(), 4, d.size(), dump);
      }
    }
    const cudaError_t e = cudaDeviceSynchronize();
    std::printf("%s\n", e ? cudaGetErrorString(e) : "");
    cuModuleUnload(module);
    if (e) return 1;
  }
  if (dump) std::fclose(dump);
}
