// SPDX-License-Identifier: Apache-2.0
// form_sweep [--gpu] [--form ID] [--part K/N] [--show N] [--deviating FILE] RECORDING
// Every spelling of every form that only computes, on 4096 operand tuples full of edge cases: interpreter, compiled
// code and what an H200 gave. RECORDING holds one line "key hash" per instruction: key of its text, hash of its
// results, "refused" for what the stock assembler refuses. For forms named in FILE both engines may differ from the
// recording, but not from each other. --gpu records this machine's real GPU and shows where ours differs.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "codegen/eval/eval.h"
#include "codegen/jit.h"
#include "random.h"
#include "real_gpu.h"
#include "runner/loaded_module.h"
#include "table.h"

namespace {

using namespace us;
using namespace fuzz;
using isa::OperandSpec;
using isa::Type;
using ptx_test::LoadedModule;

constexpr u32 kTuples = 4096, kBlock = 128, kSources = 6, kDests = 2, kBatch = 64;

struct Probe {
  std::string id, line, loads, stores;  // loads and stores: PTX around the instruction
  std::vector<u32> source_bits, dest_bits;
};

// --- operands --------------------------------------------------------------------------------------------------------

u64 hash(const void* data, std::size_t bytes) {
  u64 h = 0xcbf29ce484222325ull;
  for (std::size_t k = 0; k < bytes; ++k) h = (h ^ static_cast<const u8*>(data)[k]) * 0x100000001b3ull;
  return h ^ h >> 32;
}
std::string num(u64 v) { return std::to_string(v); }
const char* file_of(u32 bits) { return bits == 1 ? "%p" : bits == 16 ? "%h" : bits == 32 ? "%r" : "%q"; }
u32 width_class(u32 bits) { return bits == 64 ? 2 : bits == 16 ? 0 : 1; }

u64 operand(Random& r, u32 bits) {
  static constexpr u64 f16[] = {0,      0x8000, 1,      0x3ff,  0x400,  0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
                                0x7e00, 0x7c01, 0xffff, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0x0080, 0x007f};
  static constexpr u64 f32[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f800000,
                                0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                                0x7f800001, 0xffffffff, 0x4f000000, 0xcf000000, 0x5f000000, 0x47000000};
  static constexpr u64 f64[] = {0,
                                1ull << 63,
                                1,
                                0x000fffffffffffff,
                                0x0010000000000000,
                                0x3ff0000000000000,
                                0xbff0000000000000,
                                0x7fefffffffffffff,
                                0x7ff0000000000000,
                                0xfff0000000000000,
                                0x7ff8000000000000,
                                0x41e0000000000000,
                                0x43e0000000000000,
                                0xc1e0000000000000};
  static constexpr u64 ints[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256};
  const u64 ones = bits >= 64 ? ~0ull : (1ull << bits) - 1, top = 1ull << (bits - 1);
  auto half = [&] {
    return r.chance(50) ? f16[r.below(std::size(f16))] : 0x3000 + r.below(0x1800) + (r.below(2) << 15);
  };
  switch (r.below(10)) {
    case 0:
      return ints[r.below(std::size(ints))];
    case 1:
      return ones - ints[r.below(std::size(ints))];
    case 2:
      return (top + ints[r.below(4)] - ints[r.below(4)]) & ones;
    case 3:
    case 4:
      return bits == 16   ? f16[r.below(std::size(f16))]
             : bits == 32 ? f32[r.below(std::size(f32))]
                          : f64[r.below(std::size(f64))];
    case 5:  // a float of moderate size
      return bits == 16   ? half()
             : bits == 32 ? 0x3a000000 + r.below(0x0c000000) + (u64{r.below(2)} << 31)
                          : (0x3e00ull << 48) + (r.next() >> 9) + (u64{r.below(2)} << 63);
    case 6:  // small integers, pairs of halves
      return bits == 32 ? half() << 16 | half() : r.below(300);
    default:
      return r.next() & ones;
  }
}

// Inputs: for each width (16, 32, 64) kTuples x kSources words of 8 bytes.
std::vector<u32> inputs() {
  Random r(20261121);
  std::vector<u32> words;
  for (u32 bits : {16u, 32u, 64u})
    for (u32 t = 0; t < kTuples; ++t) {
      u64 before = 0;
      for (u32 s = 0; s < kSources; ++s) {
        const u64 v = s && r.chance(8) ? before : operand(r, bits);
        before = v;
        words.push_back(static_cast<u32>(v));
        words.push_back(static_cast<u32>(v >> 32));
      }
    }
  return words;
}
u64 input_at(const std::vector<u32>& in, u32 bits, u32 tuple, u32 source) {
  const std::size_t w = ((std::size_t{width_class(bits)} * kTuples + tuple) * kSources + source) * 2;
  const u64 v = in[w] | u64{in[w + 1]} << 32;
  return bits == 1 ? v & 1 : v;
}

// --- instructions ----------------------------------------------------------------------------------------------------

class Prober {
 public:
  explicit Prober(const std::string& only) {
    for (isa::Form f : forms())
      if (only.empty() || isa::info(f).id == only)
        for (const std::string& m : every_spelling(isa::info(f).pattern)) spelled(f, m);
  }
  std::vector<Probe> probes;

 private:
  void spelled(isa::Form f, const std::string& mnemonic) {
    const isa::Match m = isa::match(mnemonic);
    if (m.form != f) return;
    const auto& specs = isa::operands_of(f).specs;
    std::size_t least = 0, pipes = 0;
    for (const OperandSpec& s : specs) {
      if (!s.optional) ++least;
      if (s.pipe) ++pipes;
    }
    for (std::size_t with = f == isa::Form::lop3_bool ? 1 : 0; with <= (pipes ? 1u : 0u); ++with)
      for (std::size_t n = least + pipes; n <= specs.size(); ++n)
        for (u32 variant = 0; variant < variants(f, specs); ++variant) one(f, m, mnemonic, n, with != 0, variant);
  }
  static u32 variants(isa::Form f, const std::vector<OperandSpec>& specs) {
    if (is_video(f)) return 3;
    for (const OperandSpec& s : specs)
      if (s.want == OperandSpec::Want::Literal) return 4;
    return 1;
  }
  static bool is_video(isa::Form f) {
    return isa::info(f).semantics.substr(0, 5) == "sem_v" && isa::info(f).id[0] == 'v' &&
           isa::info(f).id.substr(0, 4) != "vote";
  }

  // The selector of a scalar or SIMD video operand.
  std::string selector(isa::Form f, const std::string& mnemonic, bool dest, char name, u32 variant, bool merges) {
    if (!is_video(f) || variant == 0 || name == 'c') return "";
    const char lanes = isa::info(f).id[std::min(isa::info(f).id.find('_'), isa::info(f).id.size()) - 1];
    const u64 turn = hash(mnemonic.data(), mnemonic.size()) + variant * 3 + static_cast<u64>(name);
    if (lanes == '2') {
      static const char* const of[] = {".h32", ".h10", ".h02", ".h31", ".h23"};
      static const char* const mask[] = {".h0", ".h1", ".h10"};
      return dest ? mask[turn % 3] : of[turn % 5];
    }
    if (lanes == '4') {
      static const char* const of[] = {".b7654", ".b3210", ".b0246", ".b7531", ".b5555"};
      static const char* const mask[] = {".b0", ".b1", ".b2", ".b3", ".b10", ".b31", ".b321", ".b3210"};
      return dest ? mask[turn % 8] : of[turn % 5];
    }
    static const char* const of[] = {".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
    return dest && (variant == 1 || !merges) ? "" : of[turn % 6];
  }

  void one(isa::Form f, const isa::Match& m, const std::string& mnemonic, std::size_t n, bool second_dest,
           u32 variant) {
    Probe p;
    p.id = isa::info(f).id;
    p.line = mnemonic;
    u32 sources = 0, dests = 0;
    bool first = true;
    const auto& specs = isa::operands_of(f).specs;
    const bool merges = n == 4 && p.id.find("_op2") == std::string::npos;  // c is there, and around the part of d
    for (std::size_t k = 0; k < n; ++k) {
      const OperandSpec& s = specs[k];
      if (s.pipe && !second_dest) continue;
      const Type t = type_of(s, m);
      const u32 bits = register_bits(s, t);
      if (bits != 1 && bits != 16 && bits != 32 && bits != 64) return;
      std::string o;
      if (s.want == OperandSpec::Want::Literal) {
        static constexpr u32 some[] = {0xca, 0x1e, 0x69, 0x02};
        o = num(some[variant]);
      } else if (s.dest) {
        const u32 at = 6 + dests;  // registers 6 and 7
        o = file_of(bits) + num(at);
        if (t == Type::f64)
          p.stores += "  setp.nan.f64 %p9, " + o + ", " + o + ";\n  @%p9 mov.b64 " + o + ", 0x7ff8000000000000;\n";
        p.stores += bits == 1    ? "  selp.u64 %q8, 1, 0, " + o + ";\n"
                    : bits == 16 ? "  cvt.u64.u16 %q8, " + o + ";\n"
                    : bits == 32 ? "  cvt.u64.u32 %q8, " + o + ";\n"
                                 : "  mov.b64 %q8, " + o + ";\n";
        p.stores += "  st.global.u64 [%out+" + num(8 * dests++) + "], %q8;\n";
        p.dest_bits.push_back(bits);
      } else {
        if (sources == kSources) return;
        o = file_of(bits) + num(sources);
        const std::string from =
            ", [%in+" + num(u64{width_class(bits)} * kTuples * kSources * 8 + 8 * sources) + "];\n";
        p.loads += bits == 1
                       ? "  ld.global.u32 %r8" + from + "  and.b32 %r8, %r8, 1;\n  setp.ne.u32 " + o + ", %r8, 0;\n"
                   : bits == 16 ? "  ld.global.u16 " + o + from
                   : bits == 32 ? "  ld.global.u32 " + o + from
                                : "  ld.global.u64 " + o + from;
        p.source_bits.push_back(bits);
        ++sources;
      }
      if (s.want != OperandSpec::Want::Literal) o += selector(f, mnemonic, s.dest, s.name, variant, merges);
      p.line += (first ? " " : s.pipe ? "|" : ", ") + o;
      first = false;
    }
    p.line += ";";
    if (!probes.empty() && probes.back().line == p.line) return;
    probes.push_back(std::move(p));
  }
};

std::string text_of(const std::vector<const Probe*>& probes) {
  std::string s = ".version 8.6\n.target sm_90a\n.address_size 64\n";
  for (std::size_t k = 0; k < probes.size(); ++k) {
    s += ".visible .entry k" + num(k) + "(.param .u64 p0, .param .u64 p1)\n{\n";
    s += "  .reg .pred %p<10>;\n  .reg .b16 %h<10>;\n  .reg .b32 %r<10>;\n  .reg .b64 %q<10>, %in, %out;\n";
    s += "  ld.param.u64 %in, [p0];\n  ld.param.u64 %out, [p1];\n";
    s += "  mov.u32 %r8, %ctaid.x;\n  mov.u32 %r9, %tid.x;\n  mad.lo.u32 %r8, %r8, " + num(kBlock) + ", %r9;\n";
    s += "  mul.wide.u32 %q8, %r8, " + num(8 * kSources) + ";\n  add.s64 %in, %in, %q8;\n";
    s += "  mul.wide.u32 %q8, %r8, " + num(8 * kDests) + ";\n  add.s64 %out, %out, %q8;\n";
    s += probes[k]->loads + "  " + probes[k]->line + "\n" + probes[k]->stores + "  ret;\n}\n";
  }
  return s;
}

std::string key_of(const Probe& p) {
  char s[16];
  std::snprintf(s, sizeof s, "%07llx", static_cast<unsigned long long>(hash(p.line.data(), p.line.size()) & 0xfffffff));
  return s;
}
std::string hash_of(const std::vector<u32>& out) {
  char s[16];
  std::snprintf(s, sizeof s, "%04llx", static_cast<unsigned long long>(hash(out.data(), out.size() * 4) & 0xffff));
  return s;
}

// --- engines ---------------------------------------------------------------------------------------------------------

struct Choices {
  std::string recording, form;
  std::string deviating;
  u32 part = 0, parts = 1, show = 4;
  bool gpu = false;
};

class Sweep {
 public:
  explicit Sweep(const Choices& c) : choices_(c), in_(inputs()), empty_(std::size_t{kTuples} * kDests * 2, 0xabababab) {
    device::GpuOptions o;
    o.workers = 1;
    gpu_ = std::make_unique<device::Gpu>(o);
    jit_ = std::make_unique<codegen::Jit>(codegen::Options{});
  }

  int go() {
    std::string why;
    if (choices_.gpu && !(real_ = RealGpu::open(why))) return std::printf("no real GPU: %s\n", why.c_str()), 2;
    if (!choices_.gpu && !read()) return std::printf("%s: cannot be read\n", choices_.recording.c_str()), 2;
    std::ifstream list(choices_.deviating);
    for (std::string id; list >> id;)
      if (id[0] == '#')
        std::getline(list, id);
      else
        deviating_.insert(id);
    const Prober all(choices_.form);
    std::vector<const Probe*> mine;
    for (std::size_t k = choices_.part; k < all.probes.size(); k += choices_.parts) mine.push_back(&all.probes[k]);
    for (std::size_t k = 0; k < mine.size(); k += kBatch)
      batch({mine.begin() + static_cast<long>(k), mine.begin() + static_cast<long>(std::min(k + kBatch, mine.size()))});
    std::printf("%zu instructions, %u compared, %u refused by the stock assembler, %u known to deviate, %u different\n",
                mine.size(), compared_, refused_, deviations_, different_);
    if (choices_.gpu) write();
    return different_ || !compared_ ? 1 : 0;
  }

 private:
  bool read() {
    std::ifstream f(choices_.recording);
    std::string key, value;
    while (f >> key)
      if (key[0] == '#')
        std::getline(f, value);
      else if (f >> value)
        recorded_[key] = value;
    return !recorded_.empty();
  }
  void write() const {
    std::ofstream f(choices_.recording);
    f << "# form_sweep --gpu on " << real_->name() << ": key of the instruction, hash of its results\n";
    for (const auto& [key, value] : recorded_) f << key << ' ' << value << '\n';
  }

  void batch(std::vector<const Probe*> probes) {
    std::vector<std::vector<u32>> real(probes.size());
    if (real_) on_gpu(probes, real);
    std::erase_if(probes, [&](const Probe* p) {
      const std::string& r = recorded_[key_of(*p)];
      if (r.empty()) std::printf("not recorded: %s\n", p->line.c_str()), ++different_;
      if (r == "refused") refused(*p);
      return r.empty() || r == "refused";
    });
    std::erase_if(real, [](const std::vector<u32>& r) { return r.empty(); });
    if (probes.empty()) return;
    auto m = LoadedModule::load(text_of(probes), "forms.ptx");
    if (!m) {
      for (const Diag& d : m.diags()) std::printf("ours refuses: line %u: %s\n", d.loc.line, d.message.c_str());
      ++different_;
      return;
    }
    for (std::size_t k = 0; k < probes.size(); ++k) {
      const std::string kernel = "k" + num(k);
      std::string want = recorded_[key_of(*probes[k])];
      ++compared_;
      const auto code = codegen::make_eval_kernel((*m)->ir(), kernel);
      if (!choices_.gpu && deviating_.count(probes[k]->id)) {
        const std::string ours = hash_of(run(**m, code).first);
        deviations_ += ours != want;
        want = ours;
      }
      bool same = check(**m, *probes[k], "interpreter", code, want, real[k]);
      codegen::Variant v;
      v.block = {kBlock, 1, 1};
      same = check(**m, *probes[k], "compiled", jit_->compile((*m)->ir(), kernel, v), want, real[k]) && same;
      different_ += !same;
    }
  }

  void refused(const Probe& p) {
    ++refused_;
    if (!LoadedModule::load(text_of({&p}), "forms.ptx")) return;
    ++different_;
    std::printf("%s: %s is refused by the stock assembler\n", p.id.c_str(), p.line.c_str());
  }

  // What a kernel leaves in memory, and what went wrong.
  template <class Code>
  std::pair<std::vector<u32>, std::string> run(LoadedModule& m, const Code& code) {
    std::vector<u32> out = empty_;
    if (!code) return {out, code.diags()[0].message};
    const device::Fault f = m.run(*gpu_, *code, {kTuples / kBlock, 1, 1}, {kBlock, 1, 1}, {1, 1, 1}, 0,
                                  {reinterpret_cast<u64>(in_.data()), reinterpret_cast<u64>(out.data())});
    return {out, f.outcome == device::Outcome::Ok ? "" : f.message};
  }
  template <class Code>
  bool check(LoadedModule& m, const Probe& p, const char* engine, const Code& code, const std::string& want,
             const std::vector<u32>& real) {
    const auto [out, what] = run(m, code);
    if (what.empty() && hash_of(out) == want) return true;
    std::printf("%s: %s %s\n", p.id.c_str(), p.line.c_str(), engine);
    if (!what.empty()) std::printf("  %s\n", what.c_str());
    if (what.empty() && !real.empty()) show(p, out, real);
    return false;
  }
  void show(const Probe& p, const std::vector<u32>& out, const std::vector<u32>& real) const {
    u32 shown = 0, n = 0;
    for (u32 t = 0; t < kTuples; ++t) {
      const std::size_t w = std::size_t{t} * kDests * 2;
      if (!std::memcmp(&out[w], &real[w], kDests * 8)) continue;
      ++n;
      if (shown++ >= choices_.show) continue;
      std::printf("  ");
      for (u32 s = 0; s < p.source_bits.size(); ++s)
        std::printf(" %llx", static_cast<unsigned long long>(input_at(in_, p.source_bits[s], t, s)));
      for (u32 d = 0; d < p.dest_bits.size(); ++d)
        std::printf("  ours %x%08x GPU %x%08x", out[w + 2 * d + 1], out[w + 2 * d], real[w + 2 * d + 1],
                    real[w + 2 * d]);
      std::printf("\n");
    }
    std::printf("   %u of %u tuples\n", n, kTuples);
  }

  // Records a batch; real[k] stays empty where the instruction is refused.
  void on_gpu(const std::vector<const Probe*>& probes, std::vector<std::vector<u32>>& real) {
    std::vector<std::string> refusals;
    const std::vector<bool> taken = real_->load(
        probes.size(),
        [&](const std::vector<std::size_t>& which) {
          std::vector<const Probe*> some;
          for (std::size_t k : which) some.push_back(probes[k]);
          return text_of(some);
        },
        refusals);
    for (const std::string& r : refusals) std::printf("refused: %s\n", r.c_str());
    for (std::size_t k = 0; k < probes.size(); ++k) {
      std::string& record = recorded_[key_of(*probes[k])];
      if (!record.empty()) std::printf("two instructions have the key of %s\n", probes[k]->line.c_str());
      record = "refused";
      if (!taken[k]) continue;
      std::vector<u32> in = in_, out = empty_;
      const std::string why = real_->run(k, kTuples / kBlock, kBlock, {&in, &out});
      if (!why.empty()) std::printf("%s: %s\n", probes[k]->line.c_str(), why.c_str()), std::exit(2);
      record = hash_of(out);
      real[k] = std::move(out);
    }
  }

  const Choices& choices_;
  std::vector<u32> in_;
  const std::vector<u32> empty_;
  std::unique_ptr<device::Gpu> gpu_;
  std::unique_ptr<codegen::Jit> jit_;
  std::unique_ptr<RealGpu> real_;
  std::map<std::string, std::string> recorded_;
  std::set<std::string> deviating_;
  u32 compared_ = 0, refused_ = 0, different_ = 0, deviations_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Choices c;
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    const char* value = k + 1 < argc ? argv[k + 1] : "";
    if (a == "--gpu")
      c.gpu = true;
    else if (a == "--form")
      c.form = value, ++k;
    else if (a == "--part" && std::sscanf(value, "%u/%u", &c.part, &c.parts) == 2 && c.part < c.parts)
      ++k;
    else if (a == "--deviating")
      c.deviating = value, ++k;
    else if (a == "--show")
      c.show = static_cast<u32>(std::strtoul(value, nullptr, 0)), ++k;
    else if (c.recording.empty() && a[0] != '-')
      c.recording = a;
    else
      return std::fprintf(
                 stderr,
                 "usage: form_sweep [--gpu] [--form ID] [--part K/N] [--show N] [--deviating FILE] RECORDING\n"),
             2;
  }
  if (c.recording.empty()) return std::fprintf(stderr, "form_sweep: RECORDING expected\n"), 2;
  return Sweep(c).go();
}
