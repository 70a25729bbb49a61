// SPDX-License-Identifier: Apache-2.0
// The approximate instructions against an H200: every form on all 2^32 arguments (of f64 their upper words; of div 2^32
// generated pairs), compared by the hashes of oracle/approx. Quick: one 256th of them; Some: one 16th, with every
// exponent met by some form; All: all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "codegen/jit.h"
#include "runner/loaded_module.h"

namespace {

using namespace us;

constexpr u32 kChunk = 1u << 24, kBlock = 1u << 16, kLaunch = 1u << 22, kThreads = 256;

// As in oracle/approx/record.cu.
inline u64 scramble(u64 t) {
  t *= 0x9e3779b97f4a7c15ull;
  t ^= t >> 32;
  t *= 0xd6e8feb86659fd93ull;
  return t ^ t >> 29;
}
void operands(u32 i, u32& a, u32& b) {
  const u64 s = scramble(u64{i} + 0x123456789ull), t = scramble(s + i);
  a = static_cast<u32>(s >> 16), b = static_cast<u32>(t >> 16);
  if (!(i >> 31)) return;
  b = (b & 0x807fffffu) | ((((a >> 23 & 255) + (static_cast<u32>(t) & 63) - 32) & 255) << 23);
  if ((t >> 6 & 15) == 0) a &= 0xff800000u;
  if ((t >> 10 & 15) == 0) b &= 0xff800000u;
}
__attribute__((target_clones("arch=x86-64-v4", "default"))) u64 hash_of(const u32* results, u32 count) {
  u64 sum = 0;
  for (u32 k = 0; k < count; ++k) sum += scramble((u64{k % kBlock} << 32 | results[k]) + 1);
  return sum;
}
template <class F>
void in_parallel(u32 count, F&& f) {  // f(first, last)
  const u32 n = std::max(1u, std::thread::hardware_concurrency()), part = (count / kBlock + n - 1) / n * kBlock;
  std::vector<std::thread> threads;
  for (u32 at = 0; at < count; at += part) threads.emplace_back(f, at, std::min(count, at + part));
  for (std::thread& t : threads) t.join();
}

std::map<std::string, std::vector<u64>> read_hashes() {
  std::ifstream in(US_SOURCE_DIR "/oracle/approx/hashes.txt");
  std::map<std::string, std::vector<u64>> r;
  std::string form;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    if (line.starts_with("#")) continue;
    if (line.starts_with("form "))
      form = line.substr(5);
    else
      for (std::string w; words >> w;) r[form].push_back(std::stoull(w, nullptr, 16));
  }
  return r;
}
const std::map<std::string, std::vector<u64>>& hashes() {
  static const auto all = read_hashes();
  return all;
}
std::vector<std::string> forms() {
  std::vector<std::string> r;
  for (const auto& [form, values] : hashes()) r.push_back(form);
  return r;
}

// p: results, first operands, second operands, number of the first input
std::string kernel(const std::string& form) {
  std::string body = "  " + form + " %y, %x;\n";
  if (form.starts_with("div"))
    body =
        "  add.s64 %q4, %q1, %q0;\n  ld.global.b32 %x, [%q4];\n  add.s64 %q4, %q2, %q0;\n  ld.global.b32 %r2, [%q4];\n "
        " " +
        form + " %y, %x, %r2;\n";
  if (form.ends_with("f64"))
    body = "  mov.b64 %q5, {%r0, %x};\n  " + form +
           " %q5, %q5;\n  mov.b64 {%r2, %y}, %q5;\n  setp.ne.u32 %p0, %r2, 0;\n  @%p0 not.b32 %y, %y;\n";
  return ".version 8.6\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{\n"
         "  .reg .b32 %r<4>, %x, %y;\n  .reg .b64 %q<8>;\n  .reg .pred %p<2>;\n"
         "  ld.param.u64 %q3, [p0];\n  ld.param.u64 %q1, [p1];\n  ld.param.u64 %q2, [p2];\n  ld.param.u32 %x, [p3];\n"
         "  mov.u32 %r0, %ctaid.x;\n  mov.u32 %r1, %tid.x;\n  mad.lo.u32 %r0, %r0, 256, %r1;\n  add.u32 %x, %x, %r0;\n"
         "  mul.wide.u32 %q0, %r0, 4;\n  add.s64 %q3, %q3, %q0;\n" +
         body + "  st.global.b32 [%q3], %y;\n  ret;\n}\n";
}

class Form {
 public:
  explicit Form(const std::string& form, const codegen::Options& options = {})
      : name_(form), pairs_(form.starts_with("div")), gpu_(device::GpuOptions{}), jit_(options) {
    auto module = ptx_test::LoadedModule::load(kernel(form), form);
    if (!module) return;
    module_ = std::move(*module);
    codegen::Variant v;
    v.block = {kThreads, 1, 1};
    if (auto code = jit_.compile(module_->ir(), "k", v)) code_ = *code;
  }
  bool ready() const { return code_ != nullptr; }
  u64 hash(u32 chunk) {
    u64 sum = 0;
    for (u32 first = 0; first < kChunk; first += kLaunch) sum += launch(chunk * kChunk + first);
    return sum;
  }
  // The first 2^22 inputs of a part, one by one
  void first_of(u32 chunk) { launch(chunk * kChunk); }
  bool pairs() const { return pairs_; }
  float argument(u32 chunk, u32 k) const { return std::bit_cast<float>(pairs_ ? a_[k] : chunk * kChunk + k); }
  float second(u32 k) const { return std::bit_cast<float>(b_[k]); }
  float result(u32 k) const { return std::bit_cast<float>(out_[k]); }

 private:
  u64 launch(u32 first) {
    if (pairs_)
      in_parallel(kLaunch, [&](u32 from, u32 to) {
        for (u32 k = from; k < to; ++k) operands(first + k, a_[k], b_[k]);
      });
    auto address = [](const std::vector<u32>& v) { return std::bit_cast<u64>(v.data()); };
    const device::Fault fault = module_->run(gpu_, code_, {kLaunch / kThreads, 1, 1}, {kThreads, 1, 1}, {1, 1, 1}, 0,
                                             {address(out_), address(a_), address(b_), first});
    EXPECT_EQ(fault.outcome, device::Outcome::Ok) << fault.message;
    std::atomic<u64> sum = 0;
    in_parallel(kLaunch, [&](u32 from, u32 to) { sum += hash_of(out_.data() + from, to - from); });
    return sum;
  }

  std::string name_;
  bool pairs_;
  device::Gpu gpu_;
  codegen::Jit jit_;
  std::unique_ptr<ptx_test::LoadedModule> module_;
  std::shared_ptr<const device::KernelCode> code_;
  std::vector<u32> out_ = std::vector<u32>(kLaunch), a_ = out_, b_ = out_;
};

void compare(const std::string& name, u32 first, u32 last, u32 step = 1) {
  Form form(name);
  ASSERT_TRUE(form.ready()) << name << " does not compile";
  u32 wrong = 0;
  for (u32 chunk = first; chunk < last; chunk += step) {
    if (form.hash(chunk) == hashes().at(name)[chunk]) continue;
    if (wrong++ < 8) ADD_FAILURE() << name << ": a result differs among inputs " << chunk << " * 2^24 and following";
  }
  EXPECT_EQ(wrong, 0u) << name << ": parts of 2^24 inputs with a difference";
}

class Quick : public testing::TestWithParam<std::string> {};
class Some : public testing::TestWithParam<std::string> {};
class All : public testing::TestWithParam<std::string> {};
TEST_P(Quick, EqualsTheRecording) { compare(GetParam(), 0x3f, 0x40); }
TEST_P(Some, EqualsTheRecording) {
  const std::vector<std::string> all = forms();
  const auto at = std::find(all.begin(), all.end(), GetParam()) - all.begin();
  compare(GetParam(), static_cast<u32>(at) * 7 % 16, 256, 16);
}
TEST_P(All, EqualsTheRecording) { compare(GetParam(), 0, 256); }

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string s = info.param;
  for (char& c : s)
    if (c == '.') c = '_';
  return s;
}
// --math=fast keeps the bounds of the PTX ISA for arguments in a range: relative errors, or absolute ones.
struct Bound {
  const char* form;
  double (*reference)(double, double);
  double from, to, bound;
  bool absolute;
};
const Bound kBounds[] = {
    {"rcp.approx.f32", [](double x, double) { return 1 / x; }, 1e-30, 1e30, 0x1p-23, false},
    {"rsqrt.approx.f32", [](double x, double) { return 1 / std::sqrt(x); }, 1e-30, 1e30, 0x1p-22, false},
    {"sqrt.approx.f32", [](double x, double) { return std::sqrt(x); }, 1e-30, 1e30, 0x1p-23, false},
    {"ex2.approx.f32", [](double x, double) { return std::exp2(x); }, -100, 100, 0x1p-22, false},
    {"lg2.approx.f32", [](double x, double) { return std::log2(x); }, 0.5, 2, 0x1p-22, true},
    {"lg2.approx.f32", [](double x, double) { return std::log2(x); }, 2.1, 1e30, 0x1p-22, false},
    {"sin.approx.f32", [](double x, double) { return std::sin(x); }, -6.28, 6.28, 0x1p-20, true},
    {"cos.approx.f32", [](double x, double) { return std::cos(x); }, -6.28, 6.28, 0x1p-20, true},
    {"tanh.approx.f32", [](double x, double) { return std::tanh(x); }, -8, 8, 0x1p-11, false},
    {"div.approx.f32", [](double x, double y) { return x / y; }, 1e-15, 1e15, 0x1p-22, false},
    {"div.full.f32", [](double x, double y) { return x / y; }, 1e-15, 1e15, 0x1p-22, false},
};
TEST(FastMath, KeepsTheBounds) {
  codegen::Options fast;
  fast.fast_math = true;
  u32 differ_from_exact = 0;
  for (const Bound& b : kBounds) {
    Form form(b.form, fast), exact(b.form);
    ASSERT_TRUE(form.ready() && exact.ready()) << b.form;
    double worst = 0;
    u32 count = 0;
    for (u32 chunk : {0x1f, 0x3e, 0x3f, 0x40, 0x41, 0x60, 0xbf, 0xc1}) {
      form.first_of(chunk);
      exact.first_of(chunk);
      for (u32 k = 0; k < kLaunch; ++k) {
        const double x = form.argument(chunk, k), y = form.second(k), r = form.result(k);
        if (!(b.from <= x && x <= b.to) || (form.pairs() && !(b.from <= y && y <= b.to))) continue;
        const double want = b.reference(x, y), error = std::abs(r - want);
        worst = std::max(worst, b.absolute || want == 0 ? error : error / std::abs(want));
        differ_from_exact += r != exact.result(k);
        ++count;
      }
    }
    EXPECT_GT(count, 1000u) << b.form;
    EXPECT_LE(worst, b.bound) << b.form;
  }
  EXPECT_GT(differ_from_exact, 1000u);  // the setting has an effect
}

INSTANTIATE_TEST_SUITE_P(Approx, Quick, testing::ValuesIn(forms()), test_name);
INSTANTIATE_TEST_SUITE_P(Approx, Some, testing::ValuesIn(forms()), test_name);
INSTANTIATE_TEST_SUITE_P(Approx, All, testing::ValuesIn(forms()), test_name);

}  // namespace
