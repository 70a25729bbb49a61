// SPDX-License-Identifier: Apache-2.0
// kernel_fuzz [--count N | --minutes M] [--start SEED] [--batch N] [--out DIR] [--print] [--gpu] [--file PTX]
// Random kernels on the interpreter and on compiled code in several forms; every bit of what they leave in memory must
// agree.
// --engine NAME: every kernel runs on this engine as well: varying, its, v3, "any shape", many.
// --gpu: on this machine's real GPU too, through its driver.
// A kernel that differs is shrunk and written to DIR as a file test.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>

#include "codegen/eval/eval.h"
#include "codegen/jit.h"
#include "kernel.h"
#include "real_gpu.h"
#include "runner/loaded_module.h"

namespace {

using namespace us;
using namespace fuzz;
using ptx_test::LoadedModule;

struct Choices {
  u64 count = 100, seed = 1;
  u32 batch = 64;
  double minutes = 0;
  std::string out = ".", file, engine;
  bool print = false, gpu = false;
};

struct Memory {
  std::vector<u32> in, out, atomics, scratch;
  bool operator==(const Memory& o) const { return out == o.out && atomics == o.atomics && scratch == o.scratch; }
};
Memory fresh(u64 seed) {
  Memory m;
  Random r(seed ^ 0x5eed);
  m.in.resize(kInputWords);
  static constexpr u32 special[] = {0,          1,          0xffffffff, 0x7fffffff, 0x80000000,
                                    0x3f800000, 0x7f800000, 0x7fc00000, 0x00400000};
  for (u32& w : m.in) {
    const u32 kind = r.below(8);
    w = kind == 0  ? special[r.below(9)]
        : kind < 3 ? r.below(100)
        : kind < 5 ? 0x3f000000 + (static_cast<u32>(r.next()) >> 8)
                   : static_cast<u32>(r.next());
  }
  m.out.assign(kThreads * kBlocks * kColumns, 0xabababab);
  m.atomics.resize(kAtomicWords, 12345);
  m.scratch.resize(kThreads * kBlocks * 32);
  for (u32 k = 0; k < m.scratch.size(); ++k) m.scratch[k] = k * 7;
  return m;
}

struct Engine {
  const char* name;
  std::unique_ptr<codegen::Jit> jit;  // none: the interpreter
  bool any_shape = false;             // compiled for any block
};

class Fuzzer {
 public:
  explicit Fuzzer(const Choices& s) : settings_(s) {
    device::GpuOptions o;
    o.workers = 1;
    o.deterministic = true;
    gpu_ = std::make_unique<device::Gpu>(o);
    engines_.push_back({"eval", nullptr});
    add("jit", {});
    codegen::Options varying, its, v3, many;
    many.many_blocks = 0;
    varying.force_varying = true;
    its.force_its = true;
    v3.cpu = "x86-64-v3";
    add("varying", varying);
    add("its", its);
    add("v3", v3);
    add("any shape", {}, true);
    add("many", many);
    std::string why;
    if (s.gpu && !(real_ = RealGpu::open(why))) std::printf("no real GPU: %s\n", why.c_str()), std::exit(2);
    if (real_) std::printf("real GPU: %s\n", real_->name().c_str());
  }

  // The engines that take part beside the interpreter: the compiler, and every third time one more by turns.
  std::vector<u32> partners(u64 seed) const {
    for (u32 e = 2; e < engines_.size(); ++e)
      if (settings_.engine == engines_[e].name) return {1, e};
    if (seed % 3) return {1};
    return {1, 2 + static_cast<u32>(seed / 3 % (engines_.size() - 2))};
  }

  // Names the engines that differ from the interpreter; empty: none.
  std::string differences(LoadedModule& m, std::size_t n, u64 seed) {
    Memory want;
    std::string why = run(m, engines_[0], n, seed, want);
    if (!why.empty()) return "eval: " + why;
    std::string all;
    for (u32 e : partners(seed)) {
      Memory got;
      why = run(m, engines_[e], n, seed, got);
      if (!why.empty())
        all += std::string(" ") + engines_[e].name + ": " + why;
      else if (!(got == want))
        all += std::string(" ") + engines_[e].name + where(want, got);
    }
    if (real_ && n < real_->accepted().size() && real_->accepted()[n] && exact_[n]) {
      Memory got = fresh(seed);
      why = real_->run(n, kBlocks, kThreads, {&got.in, &got.out, &got.atomics, &got.scratch});
      if (!why.empty())
        all += " GPU: " + why;
      else if (++compared_; !(got == want))
        all += " GPU" + where(want, got);
    }
    return all;
  }

  // A finding again: kernel k0 of the file, on the inputs of the seed.
  int again() {
    std::ifstream f(settings_.file);
    const std::string text{std::istreambuf_iterator<char>(f), {}};
    auto m = LoadedModule::load(text, settings_.file);
    if (!m) return std::printf("%s: %s\n", settings_.file.c_str(), m.diags()[0].message.c_str()), 2;
    const std::string d = differences(**m, 0, settings_.seed);
    std::printf("%s:%s\n", settings_.file.c_str(), d.empty() ? " no difference" : d.c_str());
    return !d.empty();
  }

  int go() {
    const auto start = std::chrono::steady_clock::now();
    auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    u64 done = 0;
    int findings = 0;
    double told = 0;
    auto progress = [&] {
      std::printf("%llu kernels, %d findings, %.1f s, %.1f kernels/s, next --start %llu\n",
                  static_cast<unsigned long long>(done), findings, elapsed(), static_cast<double>(done) / elapsed(),
                  static_cast<unsigned long long>(settings_.seed + done));
      if (real_) std::printf("  %llu of them on the GPU too\n", static_cast<unsigned long long>(compared_));
      std::fflush(stdout);
    };
    while (settings_.minutes > 0 ? elapsed() < 60 * settings_.minutes : done < settings_.count) {
      std::vector<Kernel> kernels;
      const u64 first = settings_.seed + done;
      for (u32 k = 0; k < settings_.batch; ++k) kernels.push_back(make_kernel(first + k));
      const std::string text = text_of(kernels);
      if (settings_.print) std::fputs(text.c_str(), stdout);
      auto m = LoadedModule::load(text, "fuzz.ptx");
      if (!m) {
        for (const Diag& d : m.diags())
          std::printf("seed %llu: line %u: %s\n", static_cast<unsigned long long>(first), d.loc.line,
                      d.message.c_str());
        std::ofstream(settings_.out + "/rejected.ptx") << text;
        return 1;
      }
      load_real(kernels);
      for (u32 k = 0; k < settings_.batch; ++k) {
        const std::string d = differences(**m, k, first + k);
        if (d.empty()) continue;
        ++findings;
        std::printf("seed %llu:%s\n", static_cast<unsigned long long>(first + k), d.c_str());
        std::fflush(stdout);
        report(kernels[k], first + k, d);
        load_real(kernels);
      }
      done += settings_.batch;
      if (elapsed() > told + 60) told = elapsed(), progress();
    }
    progress();
    return findings != 0;
  }

 private:
  void load_real(const std::vector<Kernel>& kernels) {
    if (!real_) return;
    // Approximations of what is known are computed by the assembler, with other last bits.
    exact_.clear();
    for (const Kernel& k : kernels) {
      const std::string text = text_of({k});
      exact_.push_back(text.find(".approx") == std::string::npos && text.find(".full") == std::string::npos);
    }
    std::vector<std::string> refusals;
    real_->load(
        kernels.size(),
        [&](const std::vector<std::size_t>& which) {
          std::vector<Kernel> some;
          for (std::size_t k : which) some.push_back(kernels[k]);
          return text_of(some);
        },
        refusals);
    for (const std::string& r : refusals) std::printf("refused: %s\n", r.c_str());
  }
  void add(const char* name, codegen::Options o, bool any_shape = false) {
    o.verify_passes = true;
    engines_.push_back({name, std::make_unique<codegen::Jit>(o), any_shape});
  }

  std::string run(LoadedModule& m, Engine& e, std::size_t n, u64 seed, Memory& memory) {
    const std::string kernel = "k" + std::to_string(n);
    std::shared_ptr<const device::KernelCode> code;
    if (!e.jit) {
      auto r = codegen::make_eval_kernel(m.ir(), kernel);
      if (!r) return r.diags()[0].message;
      code = *r;
    } else {
      codegen::Variant v;
      if (!e.any_shape) v.block = {kThreads, 1, 1};
      auto r = e.jit->compile(m.ir(), kernel, v);
      if (!r) return r.diags()[0].message;
      code = *r;
    }
    memory = fresh(seed);
    m.initialise();
    auto at = [](std::vector<u32>& v) { return reinterpret_cast<u64>(v.data()); };
    const device::Fault f = m.run(*gpu_, code, {kBlocks, 1, 1}, {kThreads, 1, 1}, {1, 1, 1}, 0,
                                  {at(memory.in), at(memory.out), at(memory.atomics), at(memory.scratch)});
    return f.outcome == device::Outcome::Ok ? "" : f.message;
  }

  static std::string where(const Memory& want, const Memory& got) {
    char s[128];
    for (std::size_t k = 0; k < want.out.size(); ++k)
      if (want.out[k] != got.out[k]) {
        std::snprintf(s, sizeof s, " (thread %zu, column %zu: wanted %08x, got %08x)", k % (kThreads * kBlocks),
                      k / (kThreads * kBlocks), want.out[k], got.out[k]);
        return s;
      }
    return want.atomics == got.atomics ? " (scratch memory)" : " (atomics)";
  }

  void report(Kernel k, u64 seed, const std::string& what) {
    const u64 compared = compared_;  // candidates do not count
    shrink(k, [&](Kernel& candidate) {
      auto m = LoadedModule::load(text_of({candidate}), "fuzz.ptx");
      load_real({candidate});
      return m && !differences(**m, 0, seed).empty();
    });
    compared_ = compared;
    const std::string path = settings_.out + "/finding_" + std::to_string(seed) + ".ptx";
    std::ofstream(path) << "// seed " << seed << ":" << what << "\n" << text_of({k});
    std::printf("  shrunk: %s\n", path.c_str());
  }

  const Choices& settings_;
  std::unique_ptr<device::Gpu> gpu_;
  std::vector<Engine> engines_;
  std::unique_ptr<RealGpu> real_;
  std::vector<bool> exact_;  // of the batch: no approximate function
  u64 compared_ = 0;         // kernels that ran on it
};

}  // namespace

int main(int argc, char** argv) {
  Choices s;
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    const char* value = k + 1 < argc ? argv[k + 1] : "";
    if (a == "--count")
      s.count = std::strtoull(value, nullptr, 0), ++k;
    else if (a == "--start")
      s.seed = std::strtoull(value, nullptr, 0), ++k;
    else if (a == "--batch")
      s.batch = static_cast<u32>(std::strtoul(value, nullptr, 0)), ++k;
    else if (a == "--minutes")
      s.minutes = std::strtod(value, nullptr), ++k;
    else if (a == "--engine")
      s.engine = value, ++k;
    else if (a == "--file")
      s.file = value, ++k;
    else if (a == "--out")
      s.out = value, ++k;
    else if (a == "--print")
      s.print = true;
    else if (a == "--gpu")
      s.gpu = true;
    else
      return std::fprintf(stderr,
                          "usage: kernel_fuzz [--count N | --minutes M] [--start SEED] [--batch N] [--out DIR] "
                          "[--print] [--gpu]\n"),
             2;
  }
  Fuzzer f(s);
  return s.file.empty() ? f.go() : f.again();
}
