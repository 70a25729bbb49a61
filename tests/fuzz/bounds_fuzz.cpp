// SPDX-License-Identifier: Apache-2.0
// Kernels with one access, moved out of bounds for some lanes: the launch must fault exactly when the rule says so,
// with the error of the rule, and give the values of the rule otherwise. Nothing outside of device memory may change.
//   bounds_fuzz [--kernels N] [--moves M] [--start SEED]      prints the seed of what differs
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "codegen/eval/eval.h"
#include "codegen/jit.h"
#include "memory/address_space.h"
#include "random.h"
#include "runner/loaded_module.h"

using namespace us;
using device::Outcome;
using fuzz::Random;

namespace {

enum class Where { Global, GenericGlobal, Shared, GenericShared, Local, Count };
enum class Shape { Linear, Uniform, Table, Strided, Count };
enum class Guard { None, Predicate, Branch, Loop, Count };
constexpr u32 kThreads = 64, kBytes = 1 << 16, kMiddle = kBytes / 2, kFrame = 192;

struct Access {
  Where where;
  Shape shape;
  Guard guard;
  u32 bytes, count;  // of an element, elements
  u32 kind;          // 0 load, 1 store, 2 atomic, 3 volatile load
  bool by_lane;      // only some lanes are moved: the address differs without a pattern
  bool wide_index;   // the index is multiplied as a number of 64 bits
  int add;           // immediate
  u32 size() const { return bytes * count; }
  u32 step() const { return shape == Shape::Uniform ? 0 : shape == Shape::Strided ? 3 * size() : size(); }
  bool writes() const { return kind == 1 || kind == 2; }
  bool global() const { return where == Where::Global || where == Where::GenericGlobal; }
  bool shared() const { return where == Where::Shared || where == Where::GenericShared; }
};

Access make(Random& r) {
  Access a;
  auto any = [&](auto count) { return static_cast<decltype(count)>(r.below(static_cast<u32>(count))); };
  a.where = any(Where::Count), a.shape = any(Shape::Count), a.guard = any(Guard::Count);
  a.bytes = 1u << r.below(4);
  a.count = a.bytes >= 4 && r.chance(30) ? 2 : 1;
  if (a.bytes == 4 && r.chance(15)) a.count = 4;
  a.kind = r.below(4);
  if (a.kind == 2 && (a.bytes < 4 || a.count > 1 || a.where == Where::Local)) a.kind = 1;
  if (a.kind == 3 && a.count > 1) a.kind = 0;
  a.by_lane = r.chance(50), a.wide_index = r.chance(50);
  a.add = r.chance(50) ? static_cast<int>(r.below(8) * a.size()) : 0;
  return a;
}

std::string operation(const Access& a, const std::string& address) {
  static const char* const space[] = {".global", "", ".shared", "", ".local"};
  const std::string in = space[static_cast<int>(a.where)], bits = std::to_string(8 * a.bytes);
  const std::string reg = a.bytes == 8 ? "%rd2" : "%r2", vector = a.count == 1 ? "" : a.count == 2 ? ".v2" : ".v4";
  std::string data;
  for (u32 k = 0; k < a.count; ++k) data += (k ? ", " : "") + reg + std::to_string(k);
  if (a.count > 1) data = "{" + data + "}";
  const std::string at = fmt::format("[{}+{}]", address, a.add);
  if (a.kind == 2) return fmt::format("atom{}.add.u{} {}, {}, {};\n", in, bits, data, at, data);
  if (a.kind == 1) return fmt::format("st{}{}.u{} {}, {};\n", in, vector, bits, at, data);
  return fmt::format("ld{}{}{}.u{} {}, {};\n", a.kind == 3 ? ".volatile" : "", in, vector, bits, data, at);
}

// Parameters: base, table of indices, how far, lanes, out, number of turns.
std::string text_of(const Access& a) {
  std::string t =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3, .param .u64 p4, .param .u32 "
      "p5)\n{\n"
      ".reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.reg .pred %p<8>;\n";
  t += fmt::format(".local .align 16 .b8 frame[{}];\n", kFrame);
  t += "ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; ld.param.u64 %rd3, [p2]; ld.param.u32 %r3, [p3];\n"
       "ld.param.u64 %rd4, [p4]; ld.param.u32 %r4, [p5];\nmov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31;\n"
       "shr.u32 %r5, %r3, %r1; and.b32 %r5, %r5, 1; setp.ne.u32 %p0, %r5, 0;\n";
  for (u32 k = 0; k < 4; ++k) t += fmt::format("add.u32 %r2{0}, %r0, {0}; cvt.u64.u32 %rd2{0}, %r2{0};\n", k);
  switch (a.shape) {
    case Shape::Table:
      t += "mul.wide.u32 %rd5, %r0, 4; add.u64 %rd5, %rd1, %rd5; ld.global.u32 %r6, [%rd5];\n";
      break;
    default:
      t += "mov.u32 %r6, %r0;\n";
  }
  t += a.wide_index ? fmt::format("cvt.u64.u32 %rd6, %r6; mul.lo.u64 %rd6, %rd6, {};\n", a.step())
                    : fmt::format("mul.wide.s32 %rd6, %r6, {};\n", a.step());
  if (a.where == Where::Local) t += "mov.u64 %rd0, frame; st.local.u32 [frame], %r0;\n";
  if (a.where == Where::GenericShared) t += "cvta.shared.u64 %rd0, %rd0;\n";
  if (a.by_lane) t += "selp.b64 %rd3, %rd3, 0, %p0;\n";
  t += "add.u64 %rd7, %rd0, %rd6; add.u64 %rd7, %rd7, %rd3;\n";
  std::string address = "%rd7";
  if (a.where == Where::Shared) t += "cvt.u32.u64 %r7, %rd7;\n", address = "%r7";
  const std::string op = operation(a, address);
  switch (a.guard) {
    case Guard::None:
      t += op;
      break;
    case Guard::Predicate:
      t += "@%p0 " + op;
      break;
    case Guard::Branch:
      t += "@!%p0 bra DONE;\n" + op + "DONE:\n";
      break;
    default:
      t += "mov.u32 %r8, 0;\nAGAIN:\n" + op + "add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, %r4; @%p1 bra AGAIN;\n";
  }
  if (!a.writes()) {
    t += fmt::format("mul.wide.u32 %rd8, %r0, 8; add.u64 %rd8, %rd4, %rd8;\n{}st.global.u64 [%rd8], %rd20;\n",
                     a.bytes == 8 ? "" : "cvt.u64.u32 %rd20, %r20;\n");
  }
  return t + "ret;\n}\n";
}

struct Bench {
  memory::AddressSpace space;
  std::unique_ptr<device::Gpu> gpu;
  u64 array, table, out;
  std::vector<u8> pattern = std::vector<u8>(kBytes), canary = std::vector<u8>(1 << 16, 0xa5);

  Bench() {
    device::GpuOptions o;
    o.workers = 1;
    o.space = &space;
    gpu = std::make_unique<device::Gpu>(std::move(o));
    array = space.map(kBytes), table = space.map(4096), out = space.map(4096);
    for (u32 k = 0; k < kBytes; ++k) pattern[k] = static_cast<u8>(k * 37 + (k >> 8));
    for (u32 k = 0; k < kThreads; ++k) reinterpret_cast<u32*>(table)[k] = (k * 29 + 5) % kThreads;
  }
  bool readable(u64 at, u64 bytes) const {
    for (const auto& [from, size] :
         {std::pair{array, u64{kBytes}}, std::pair{table, u64{4096}}, std::pair{out, u64{4096}}})
      if (at >= from && at + bytes <= from + size) return true;
    return false;
  }
};

struct Run {
  u64 base = 0, move = 0, dynamic = 0;
  u32 lanes = 0;
};

// Where an access of one lane goes.
Outcome place(const Bench& b, const Access& a, const Run& run, u64 at) {
  if (a.global()) return b.readable(at, a.size()) ? Outcome::Ok : Outcome::IllegalAddress;
  if (a.shared()) {
    const u64 end = (1024 + run.dynamic + 127) / 128 * 128;
    if (a.where == Where::Shared) at = static_cast<u32>(at);
    if (at < end && at + a.size() <= end) return Outcome::Ok;
    return at < 16u << 20 ? Outcome::IllegalAddress : Outcome::IllegalInstruction;
  }
  u64 stride = kFrame + 1024 + 256 + 80;
  stride = stride % 1024 ? stride : stride + 64;
  const u64 from = at + 256;
  return from < stride && from + a.size() <= stride ? Outcome::Ok : Outcome::IllegalAddress;
}

// Both, of an access that is misaligned and outside: either may be told.
u32 judge(const Bench& b, const Access& a, const Run& run, u64 at) {
  u32 kinds = 1u << static_cast<u32>(place(b, a, run, at));
  if (at % a.size() && a.where != Where::Local) kinds |= 1u << static_cast<u32>(Outcome::MisalignedAddress);
  return kinds;
}

std::string differs(Bench& b, const Access& a, const Run& run, const device::Fault& f) {
  u32 kinds = 0;
  std::vector<u64> at(kThreads);
  std::vector<bool> active(kThreads);
  for (u32 t = 0; t < kThreads; ++t) {
    const bool mine = run.lanes >> t % 32 & 1;
    active[t] = mine || a.guard == Guard::None || a.guard == Guard::Loop;
    const u32 index = a.shape == Shape::Table ? reinterpret_cast<u32*>(b.table)[t] : t;
    at[t] = (a.where == Where::Local ? 0 : run.base) + u64{index} * a.step() + (mine || !a.by_lane ? run.move : 0) +
            static_cast<u64>(a.add);
    if (active[t]) kinds |= judge(b, a, run, at[t]);
  }
  const u32 bad = kinds & ~(1u << static_cast<u32>(Outcome::Ok));
  // A generic address beside the window is one of no memory.
  const bool beside = a.where == Where::GenericShared && bad && f.outcome == Outcome::IllegalAddress;
  if ((f.outcome != Outcome::Ok) != (bad != 0)) return bad ? "no fault" : "a fault: " + f.message;
  if (bad && !beside && !(bad >> static_cast<u32>(f.outcome) & 1)) return "another fault: " + f.message;
  if (bad || a.writes() || !a.global()) return {};
  for (u32 t = 0; t < kThreads; ++t) {
    u64 want = 0, got = reinterpret_cast<u64*>(b.out)[t];
    const bool inside = at[t] >= b.array && at[t] - b.array + a.bytes <= kBytes;
    if (!active[t] || !inside) continue;
    std::memcpy(&want, &b.pattern[at[t] - b.array], a.bytes);
    if (want != got) return fmt::format("thread {}: {:#x}, not {:#x}", t, got, want);
  }
  return {};
}

Run move(Random& r, const Bench& b, const Access& a) {
  Run run;
  run.dynamic = r.below(40) * 100;
  run.base = a.global() ? b.array + kMiddle : a.shared() ? 1024 : 0;
  run.lanes = r.chance(30) ? ~u32{0} : r.chance(50) ? 1u << r.below(32) : static_cast<u32>(r.next());
  const u64 far = r.next() & ((u64{2} << r.below(33)) - 1);
  run.move = r.chance(70) ? far / a.size() * a.size() : far;
  if (r.chance(30)) run.move = 0 - run.move;
  if (r.chance(10)) run.move = 0;
  if (a.global() && r.chance(10)) run.move = reinterpret_cast<u64>(b.canary.data() + 4096) - run.base;
  return run;
}

}  // namespace

int main(int argc, char** argv) {
  u64 kernels = 200, moves = 50, start = 1, runs = 0, faults = 0, findings = 0;
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string name = argv[k];
    (name == "--kernels" ? kernels : name == "--moves" ? moves : start) = std::strtoull(argv[k + 1], nullptr, 0);
  }
  Bench b;
  codegen::Jit jit({});
  for (u64 seed = start; seed < start + kernels; ++seed) {
    Random r(seed);
    const Access a = make(r);
    const std::string text = text_of(a);
    auto m = ptx_test::LoadedModule::load(text, "bounds.ptx");
    auto compiled = m ? jit.compile((*m)->ir(), "k", {.block = {kThreads, 1, 1}, .usual_space = b.space.usual()})
                      : Result<std::shared_ptr<const codegen::Compiled>>(m.diags());
    auto interpreted = m ? codegen::make_eval_kernel((*m)->ir(), "k")
                         : decltype(codegen::make_eval_kernel((*m)->ir(), "k"))(m.diags());
    if (!compiled || !interpreted) {
      std::printf("seed %llu: %s\n%s", static_cast<unsigned long long>(seed),
                  (compiled ? interpreted.diags() : compiled.diags())[0].message.c_str(), text.c_str());
      return 1;
    }
    for (u64 k = 0; k < moves; ++k) {
      const Run run = move(r, b, a);
      const bool interpreter = k % 8 == 7 && a.where != Where::Local;  // whose local memory is larger
      const std::shared_ptr<const device::KernelCode> code =
          interpreter ? std::shared_ptr<const device::KernelCode>(*interpreted) : *compiled;
      std::memcpy(reinterpret_cast<void*>(b.array), b.pattern.data(), kBytes);
      const device::Fault f =
          (*m)->run(*b.gpu, code, {1, 1, 1}, {kThreads, 1, 1}, {1, 1, 1}, static_cast<unsigned>(run.dynamic),
                    {run.base, b.table, run.move, run.lanes, b.out, 2});
      ++runs, faults += f.outcome != Outcome::Ok;
      std::string d = differs(b, a, run, f);
      for (const u8 c : b.canary)
        if (c != 0xa5) d = "memory of the process has changed";
      for (u32 t = 0; t < kThreads; ++t) reinterpret_cast<u32*>(b.table)[t] = (t * 29 + 5) % kThreads;
      if (d.empty()) continue;
      ++findings;
      std::printf("seed %llu, move %llu (%s): move %#llx, lanes %#x, dynamic %llu: %s\n",
                  static_cast<unsigned long long>(seed), static_cast<unsigned long long>(k),
                  interpreter ? "interpreter" : "compiled", static_cast<unsigned long long>(run.move), run.lanes,
                  static_cast<unsigned long long>(run.dynamic), d.c_str());
      if (findings < 4) std::printf("%s", text.c_str());
      break;
    }
    if (findings >= 20) break;
  }
  std::printf("%llu runs of %llu kernels, %llu faults, %llu findings\n", static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(kernels), static_cast<unsigned long long>(faults),
              static_cast<unsigned long long>(findings));
  return findings != 0;
}
