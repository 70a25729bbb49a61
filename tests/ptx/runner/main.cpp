// SPDX-License-Identifier: Apache-2.0
// Runs file tests: ptx_runner [--engines=eval,host,v3,many] [--full=FILE] [--quiet] [--print-events] FILE.ptx..
// Every engine runs every case with all workers and with one; all must agree bit for bit with each other and with the
// recording in oracle/ptx. --full compares with the complete outputs that record.cpp wrote, element by element.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "codegen/eval/eval.h"
#include "ir/sites.h"
#include "memory/texture.h"
#include "probe/counting.h"
#include "runner/approximations.h"
#include "runner/event_log.h"
#include "runner/loaded_module.h"
#include "runner/record_log.h"
#ifdef US_WITH_JIT
#include "codegen/jit.h"
#endif

namespace {

using namespace ptx_test;
using namespace us;
using Outputs = std::vector<std::vector<u8>>;
using Full = std::map<std::string, std::vector<u8>>;  // "chapter.name kernel array"

struct Choices {
  std::string engines = "eval,host,v3";
  Full full;
  bool quiet = false, print_events = false;
};
struct Report {
  int failures = 0, unrecorded = 0, known = 0;
  bool expected = false;  // of a file with a TODO: counted, not printed
  void fail(const std::string& where, const std::string& what) {
    ++(expected ? known : failures);
    if (!expected) std::printf("FAIL %s: %s\n", where.c_str(), what.c_str());
  }
};

std::string joined(const std::vector<Diag>& ds) {
  std::string s;
  for (const Diag& d : ds) s += "\n  line " + std::to_string(d.loc.line) + ": " + d.message;
  return s;
}

class Engines {
 public:
  explicit Engines(const std::string& list) {
    device::GpuOptions one, all;
    one.workers = 1;
    one.deterministic = true;
    one.textures = all.textures = &textures_;
    one_ = std::make_unique<device::Gpu>(one);
    all_ = std::make_unique<device::Gpu>(all);
    std::istringstream in(list);
    for (std::string e; std::getline(in, e, ',');)
      if (e == "counts")
        counts_ = true;
      else if (e == "events")
        events_ = true;
      else if (e == "records")
        records_ = true;
      else
        names_.push_back(e);
#ifdef US_WITH_JIT
    codegen::Options host, v3, many, plain;
    host.verify_passes = plain.verify_passes = true;
    many.many_blocks = 0;
    for (const PassRow& row : pass_rows())
      if (row.need == PassRow::Need::Optional) plain.disabled.add(static_cast<Pass>(&row - pass_rows().data()));
    plain_ = std::make_unique<codegen::Jit>(plain);
    many_ = std::make_unique<codegen::Jit>(many);
    v3.cpu = "x86-64-v3";
    v3_ = std::make_unique<codegen::Jit>(v3);
    host_ = std::make_unique<codegen::Jit>(host);
#endif
  }
  const std::vector<std::string>& names() const { return names_; }
  bool counts() const { return counts_; }
  bool events() const { return events_; }
  bool records() const { return records_; }
  device::Gpu& one() { return *one_; }
  device::Gpu& all() { return *all_; }
  memory::TextureTable& textures() { return textures_; }
  Result<std::shared_ptr<const device::KernelCode>> compile(const std::string& engine, const LoadedModule& m,
                                                            const Case& c) {
    if (engine == "eval") return codegen::make_eval_kernel(m.ir(), c.kernel);
    if (engine == "eval, recorded") return codegen::make_eval_kernel(m.ir(), c.kernel, probe::Strategy::Records);
    if (engine == "eval, told") return codegen::make_eval_kernel(m.ir(), c.kernel, probe::Strategy::Events);
#ifdef US_WITH_JIT
    codegen::Variant v;
    if (engine == "recorded") v.probe = probe::Strategy::Records;
    if (engine == "counted") v.probe = probe::Strategy::Counts;
    if (engine == "told") v.probe = probe::Strategy::Events;
    v.block = {c.block[0], c.block[1], c.block[2]};
    v.cluster = {c.cluster[0], c.cluster[1], c.cluster[2]};
    auto r = (engine == "v3"      ? v3_
              : engine == "many"  ? many_
              : engine == "plain" ? plain_
                                  : host_)
                 ->compile(m.ir(), c.kernel, v);
    if (!r) return r.diags();
    return std::shared_ptr<const device::KernelCode>(*r);
#else
    return Diag{Diag::Kind::Error, {}, "built without the compiler: engine " + engine + " skipped"};
#endif
  }

 private:
  std::vector<std::string> names_;
  bool counts_ = false, events_ = false, records_ = false;
  memory::TextureTable textures_;
  std::unique_ptr<device::Gpu> one_, all_;
#ifdef US_WITH_JIT
  // many: as functions of many blocks are compiled; plain: without the passes that code is correct without
  std::unique_ptr<codegen::Jit> host_, v3_, many_, plain_;
#endif
};

// The objects of a case, while it runs.
class Images {
 public:
  Images(memory::TextureTable& table, const Case& c, const std::vector<u64>& pointers) : table_(table) {
    for (const Image& i : c.images) {
      memory::TextureObject t;
      t.magic = i.surface ? memory::TextureObject::kSurface : memory::TextureObject::kTexture;
      t.format = {memory::TexelType::U32, 1};
      memory::TextureLevel& l = t.level[0];
      l.width = i.width, l.height = i.height, l.pitch = 4 * i.width, l.slice = l.pitch * i.height;
      for (std::size_t k = 0; k < c.arrays.size(); ++k)
        if (c.arrays[k].name == i.array) l.data = pointers[k];
      objects_.push_back({table.add(t), t.magic});
    }
  }
  ~Images() {
    for (const auto& [handle, magic] : objects_)
      if (table_.remove(handle, magic)) table_.bury(handle);
  }
  void append_to(std::vector<u64>& parameters) const {
    for (const auto& object : objects_) parameters.push_back(object.first);
  }

 private:
  memory::TextureTable& table_;
  std::vector<std::pair<u64, u32>> objects_;
};

bool execute(Engines& engines, LoadedModule& m, device::Gpu& gpu, const std::shared_ptr<const device::KernelCode>& code,
             const Case& c, Outputs& out, std::string& why, std::shared_ptr<probe::Listener> listener = nullptr,
             std::vector<u64>* where = nullptr) {
  m.initialise();
  out.clear();
  std::vector<u64> pointers;
  for (const Array& a : c.arrays) {
    out.push_back(initial(a));
    out.back().resize(out.back().size() + 384);  // vectors of a whole warp may be stored past the end of the array
  }
  for (auto& bytes : out)
    pointers.push_back(reinterpret_cast<u64>(bytes.data() + (-reinterpret_cast<u64>(bytes.data()) & 127)));
  if (where) *where = pointers;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto start = initial(c.arrays[k]);
    std::memcpy(reinterpret_cast<void*>(pointers[k]), start.data(), start.size());
  }
  std::vector<u64> parameters = pointers;
  const Images images(engines.textures(), c, pointers);
  images.append_to(parameters);
  const device::Fault f = m.run(gpu, code, {c.grid[0], c.grid[1], c.grid[2]}, {c.block[0], c.block[1], c.block[2]},
                                {c.cluster[0], c.cluster[1], c.cluster[2]}, c.smem, parameters, std::move(listener));
  for (std::size_t k = 0; k < out.size(); ++k) {
    const u8* at = reinterpret_cast<const u8*>(pointers[k]);
    out[k] = std::vector<u8>(at, at + c.arrays[k].bytes());
  }
  why = f.message;
  return f.outcome == device::Outcome::Ok;
}

// "case kernel inputs HASH" / "out name SUMMARY" lines -> "kernel name" -> summary; "kernel" -> inputs hash
std::map<std::string, std::string> recording_of(const File& f) {
  const auto last = f.path.find_last_of('/'), before = f.path.find_last_of('/', last - 1);
  const std::string chapter = f.path.substr(before + 1, last - before - 1);
  std::ifstream in(std::string(US_SOURCE_DIR) + "/oracle/ptx/" + chapter + "." + f.name + ".txt");
  std::map<std::string, std::string> r;
  std::string kernel;
  for (std::string line; std::getline(in, line);) {
    std::istringstream s(line);
    std::string what, name;
    s >> what >> name;
    std::string rest;
    std::getline(s, rest);
    if (what == "case") kernel = name, r[kernel] = rest.substr(rest.rfind(' ') + 1);
    if (what == "out") r[kernel + " " + name] = rest.substr(1);
  }
  return r;
}

std::string hex(const std::vector<u8>& bytes, std::size_t k, std::size_t n) {
  u64 v = 0;
  std::memcpy(&v, &bytes[k * n], n);
  char s[24];
  std::snprintf(s, sizeof s, "%0*llx", static_cast<int>(2 * n), static_cast<unsigned long long>(v));
  return s;
}
std::string differences(const Case& c, const Array& a, const std::vector<u8>& want, const std::vector<u8>& got) {
  std::string s;
  const std::size_t n = a.element_bytes();
  int shown = 0, count = 0;
  for (std::size_t k = 0; k < a.count; ++k) {
    if (std::memcmp(&want[k * n], &got[k * n], n) == 0) continue;
    ++count;
    if (shown++ >= 4) continue;
    s += "\n    [" + std::to_string(k) + "]";
    for (const Array& in : c.arrays)
      if (in.role == Array::Role::In && in.count == a.count)
        s += " " + in.name + "=" + hex(initial(in), k, in.element_bytes());
    s += " wanted " + hex(want, k, n) + " got " + hex(got, k, n);
  }
  return std::to_string(count) + " of " + std::to_string(a.count) + " elements differ" + s;
}

class FileTest {
 public:
  FileTest(const File& f, Engines& e, const Choices& s, Report& r) : file_(f), engines_(e), settings_(s), report_(r) {}
  void run() {
    for (const std::string& p : file_.problems) report_.fail(file_.path, p);
    auto m = LoadedModule::load(file_.text, file_.name);
    if (!file_.errors.empty()) return expect_errors(m ? std::vector<Diag>{} : m.diags());
    if (!m) return report_.fail(file_.path, "does not parse" + joined(m.diags()));
    recorded_ = recording_of(file_);
    for (const Case& c : file_.cases) run_case(**m, c);
  }

 private:
  void expect_errors(const std::vector<Diag>& ds) {
    for (const std::string& e : file_.errors) {
      bool found = false;
      for (const Diag& d : ds) found = found || d.message.find(e) != std::string::npos;
      if (!found) report_.fail(file_.path, "no diagnostic says '" + e + "'" + joined(ds));
    }
  }
  // What compiled code counts is what the interpreter counts, instruction by instruction.
  void compare_counts(LoadedModule& m, const Case& c) {
    std::vector<probe::Count> want;
    for (const char* engine : {"eval", "counted"}) {
      const std::string where = file_.path + " " + c.kernel + ", counts of " + engine;
      auto code = engines_.compile(engine, m, c);
      if (!code) return report_.fail(where, joined(code.diags()));
      auto counting = std::make_shared<probe::Counting>(m.ir().sites, engines_.one().workers());
      Outputs out;
      std::string why;
      if (!execute(engines_, m, engines_.one(), *code, c, out, why, counting)) return report_.fail(where, why);
      const std::vector<probe::Count> got = counting->total();
      if (want.empty())
        want = got;
      else
        judge_counts(where, m.ir(), c, want, got);
    }
  }
  void judge_counts(const std::string& where, const ir::Module& m, const Case& c, const std::vector<probe::Count>& want,
                    const std::vector<probe::Count>& got) {
    const std::vector<ir::Site> sites = ir::sites(m);
    const auto text = [](const probe::Count& n) {
      return std::to_string(n.warps) + " warps, " + std::to_string(n.lanes) + " lanes, " + std::to_string(n.read) +
             " bytes read, " + std::to_string(n.written) + " written";
    };
    int shown = 0;
    const auto same = [&](std::size_t k) {
      probe::Count a = want[k], b = got[k];
      if (c.counts == "lanes" || sites[k].term) a.warps = b.warps = 0;
      return a == b;
    };
    for (std::size_t k = 0; k < sites.size(); ++k)
      if (!same(k) && shown++ < 3)
        report_.fail(where, (sites[k].inst ? ir::to_text(m, *sites[k].inst) : "branch") + " in line " +
                                std::to_string(sites[k].loc().line) + ": " + text(got[k]) +
                                "; the interpreter: " + text(want[k]));
  }
  // Addresses are named by the arrays of the case, whose memory is another one in each run.
  static EventLog::Naming naming_of(std::shared_ptr<std::vector<u64>> pointers, const Case& c) {
    return [pointers, &c](probe::Space s, u64 a) {
      for (std::size_t k = 0; s == probe::Space::Global && k < pointers->size(); ++k)
        if (const u64 at = a - (*pointers)[k]; at < c.arrays[k].bytes() + 256)
          return c.arrays[k].name + "+" + std::to_string(at);
      const bool of_stack = s == probe::Space::Local && a >= 4096;  // alloca: executors have stacks of different sizes
      return of_stack ? "stack" : std::to_string(a);
    };
  }
  // The records of compiled code are the interpreter's, lane by lane.
  void compare_records(LoadedModule& m, const Case& c) {
    const std::vector<ir::Site> sites = ir::sites(m.ir());
    std::vector<std::shared_ptr<RecordLog>> logs;
    for (const char* engine : {"eval, recorded", "recorded"}) {
      const std::string where = file_.path + " " + c.kernel + ", records of " + engine;
      auto code = engines_.compile(engine, m, c);
      if (!code) return report_.fail(where, joined(code.diags()));
      auto pointers = std::make_shared<std::vector<u64>>();
      logs.push_back(std::make_shared<RecordLog>(m.ir().sites, engines_.one().workers(), naming_of(pointers, c)));
      logs.back()->place = [&sites](u32 site) { return "line " + std::to_string(sites.at(site).loc().line) + ": "; };
      Outputs out;
      std::string why;
      if (!execute(engines_, m, engines_.one(), *code, c, out, why, logs.back(), pointers.get()))
        return report_.fail(where, why);
      if ((*code)->shares) return;  // how often its loops turn is a matter of order
    }
    judge_lanes(file_.path + " " + c.kernel + ", records", logs[0]->lanes(), logs[1]->lanes());
    judge_bytes(file_.path + " " + c.kernel + ", bytes of records", m, logs[1]->bytes(), logs[1]->counted());
  }
  // What compiled code tells of each lane is what the interpreter tells, in the same order; and it reads and writes
  // what the interpreter counts.
  void compare_events(LoadedModule& m, const Case& c) {
    const std::vector<ir::Site> sites = ir::sites(m.ir());
    std::vector<std::shared_ptr<EventLog>> logs;
    for (const char* engine : {"eval, told", "told"}) {
      const std::string where = file_.path + " " + c.kernel + ", events of " + engine;
      auto code = engines_.compile(engine, m, c);
      if (!code) return report_.fail(where, joined(code.diags()));
      auto pointers = std::make_shared<std::vector<u64>>();
      logs.push_back(std::make_shared<EventLog>(m.ir().sites, naming_of(pointers, c)));
      logs.back()->place = [&sites, &c](u32 site) {
        if (c.counts == "lanes" || site >= sites.size()) return std::string();
        return "line " + std::to_string(sites[site].loc().line) + ": ";
      };
      logs.back()->values =
          std::ranges::none_of(c.arrays, [](const Array& a) { return a.spec.find("any-nan") != std::string::npos; });
      Outputs out;
      std::string why;
      if (!execute(engines_, m, engines_.one(), *code, c, out, why, logs.back(), pointers.get()))
        return report_.fail(where, why);
    }
    judge_lanes(file_.path + " " + c.kernel + ", events", logs[0]->lanes(), logs[1]->lanes());
    judge_bytes_counted(m, c, logs[1]->bytes());
    if (!c.tells.empty()) judge_text(c, logs[1]->lines());
    if (settings_.print_events)
      for (const std::string& line : logs[1]->lines()) std::printf("%s\n", line.c_str());
  }
  void judge_text(const Case& c, std::vector<std::string> got) {
    const std::string where = file_.path + " " + c.kernel + ", text of events";
    const std::vector<std::string>& want = c.tells;
    if (c.tells_by_warp)
      std::ranges::stable_sort(got, {}, [](const std::string& line) { return line.substr(0, line.find(' ')); });
    std::size_t k = 0;
    while (k < want.size() && k < got.size() && want[k] == got[k]) ++k;
    if (k == want.size() && k == got.size()) return;
    const auto line = [k](const std::vector<std::string>& lines) { return k < lines.size() ? lines[k] : "no more"; };
    report_.fail(where, "event " + std::to_string(k) + ": " + line(got) + "; wanted: " + line(want));
  }
  void judge_bytes_counted(LoadedModule& m, const Case& c, const std::vector<probe::Count>& told) {
    const std::string where = file_.path + " " + c.kernel + ", bytes of events";
    auto code = engines_.compile("counted", m, c);
    if (!code) return report_.fail(where, joined(code.diags()));
    auto counting = std::make_shared<probe::Counting>(m.ir().sites, engines_.one().workers());
    Outputs out;
    std::string why;
    if (!execute(engines_, m, engines_.one(), *code, c, out, why, counting)) return report_.fail(where, why);
    judge_bytes(where, m, told, counting->total());
  }
  void judge_bytes(const std::string& where, const LoadedModule& m, const std::vector<probe::Count>& told,
                   const std::vector<probe::Count>& counted) {
    const std::vector<ir::Site> sites = ir::sites(m.ir());
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const ir::Inst* const i = sites[k].inst;
      if (!i || i->has(isa::Tok::param) || i->has(isa::Tok::const_)) continue;  // told of only in part
      if (i->form == isa::Form::tensormap_replace || i->form == isa::Form::tensormap_replace_dim) continue;
      if (told[k].read != counted[k].read || told[k].written != counted[k].written)
        report_.fail(where, ir::to_text(m.ir(), *i) + " in line " + std::to_string(i->loc.line) + ": " +
                                std::to_string(told[k].read) + " read, " + std::to_string(told[k].written) +
                                " written; counted: " + std::to_string(counted[k].read) + ", " +
                                std::to_string(counted[k].written));
    }
  }
  using Lanes = std::map<EventLog::Lane, std::vector<std::string>>;
  void judge_lanes(const std::string& where, const Lanes& want, const Lanes& got) {
    int shown = 0;
    for (const auto& [lane, lines] : want) {
      const auto it = got.find(lane);
      static const std::vector<std::string> none;
      const std::vector<std::string>& mine = it == got.end() ? none : it->second;
      if (mine == lines || shown++ >= 3) continue;
      std::size_t k = 0;
      while (k < lines.size() && k < mine.size() && lines[k] == mine[k]) ++k;
      const auto& [cta, warp, l] = lane;
      report_.fail(where, "CTA " + std::to_string(cta) + " warp " + std::to_string(warp) + " lane " +
                              std::to_string(l) + " event " + std::to_string(k) + ": " +
                              (k < mine.size() ? mine[k] : "no more") +
                              "; the interpreter: " + (k < lines.size() ? lines[k] : "no more"));
    }
    if (want.size() != got.size()) report_.fail(where, "other lanes than the interpreter's");
  }
  void run_case(LoadedModule& m, const Case& c) {
    if (engines_.events() && c.fault.empty() && c.events && c.counts != "any") compare_events(m, c);
    if (engines_.records() && c.fault.empty() && c.counts != "any") compare_records(m, c);
    if (engines_.counts() && c.fault.empty() && c.counts != "any") compare_counts(m, c);
    Outputs first;
    std::string first_engine;
    for (const std::string& engine : engines_.names()) {
      const std::string where = file_.path + " " + c.kernel + " on " + engine;
      auto code = engines_.compile(engine, m, c);
      if (!code) {
        report_.fail(where, joined(code.diags()));
        continue;
      }
      for (device::Gpu* gpu : {&engines_.all(), &engines_.one()}) {
        Outputs out;
        std::string why;
        const bool good = execute(engines_, m, *gpu, *code, c, out, why);
        if (!c.fault.empty()) {
          if (good || why.find(c.fault) == why.npos) report_.fail(where, "no fault '" + c.fault + "'\n" + why);
          continue;
        }
        if (!good) {
          report_.fail(where, why);
          break;
        }
        if (first.empty()) {
          first = out, first_engine = engine;
          judge(where, c, out);
        } else {
          compare(where + " against " + first_engine, c, first, out);
        }
      }
    }
  }
  // "any-nan": engines may choose among several NaN operands of f64 (DEVIATIONS.md).
  static bool same(const Array& a, const std::vector<u8>& want, const std::vector<u8>& got) {
    if (want == got || a.spec.find("any-nan") == std::string::npos) return want == got;
    for (std::size_t k = 0; k < a.bytes(); k += 8) {
      double x, y;
      std::memcpy(&x, &want[k], 8), std::memcpy(&y, &got[k], 8);
      if (std::memcmp(&x, &y, 8) != 0 && !(x != x && y != y)) return false;
    }
    return true;
  }
  void compare(const std::string& where, const Case& c, const Outputs& want, const Outputs& got) {
    for (std::size_t k = 0; k < c.arrays.size(); ++k)
      if (!same(c.arrays[k], want[k], got[k]))
        report_.fail(where, c.arrays[k].name + ": " + differences(c, c.arrays[k], want[k], got[k]));
  }
  void judge(const std::string& where, const Case& c, const Outputs& out) {
    for (std::size_t k = 0; k < c.arrays.size(); ++k) {
      const Array& a = c.arrays[k];
      if (a.role == Array::Role::In) {
        if (out[k] != initial(a)) report_.fail(where, "input " + a.name + " was changed");
      } else if (a.spec.rfind("approx", 0) == 0) {
        const std::string problem = check_bounds(c, a, out[k]);
        if (!problem.empty()) report_.fail(where, problem);
      } else if (const auto want = explicit_values(a); a.role == Array::Role::Out && !want.empty()) {
        if (want != out[k]) report_.fail(where, a.name + ": " + differences(c, a, want, out[k]));
      } else {
        judge_recorded(where, c, a, out[k]);
      }
    }
  }
  void judge_recorded(const std::string& where, const Case& c, const Array& a, const std::vector<u8>& got) {
    const auto last = file_.path.find_last_of('/'), before = file_.path.find_last_of('/', last - 1);
    const std::string key =
        file_.path.substr(before + 1, last - before - 1) + "." + file_.name + " " + c.kernel + " " + a.name;
    if (const auto full = settings_.full.find(key); full != settings_.full.end()) {
      if (full->second != got) report_.fail(where, a.name + ": " + differences(c, a, full->second, got));
      return;
    }
    const auto r = recorded_.find(c.kernel + " " + a.name);
    if (r == recorded_.end()) {
      ++report_.unrecorded;
      return;
    }
    char inputs[24];
    std::snprintf(inputs, sizeof inputs, "%016llx", static_cast<unsigned long long>(inputs_hash(c)));
    if (recorded_[c.kernel] != inputs)
      return report_.fail(where, "the recording was made with other inputs: record again");
    if (r->second != summarize(got))
      report_.fail(where, a.name + " differs from the recording: " + mismatch(r->second, summarize(got)));
  }
  static std::string mismatch(const std::string& want, const std::string& got) {
    std::istringstream a(want), b(got);
    std::string x, y;
    for (int k = 0; a >> x && b >> y; ++k)
      if (x != y) return "word or 1 KB hash " + std::to_string(k) + ": wanted " + x + ", got " + y;
    return "lengths differ";
  }

  const File& file_;
  Engines& engines_;
  const Choices& settings_;
  Report& report_;
  std::map<std::string, std::string> recorded_;
};

Full read_full(const std::string& path) {
  Full out;
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    const auto space = line.rfind(' ');
    std::vector<u8> bytes(std::stoull(line.substr(space + 1)));
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out[line.substr(0, space)] = std::move(bytes);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  Choices settings;
  std::vector<std::string> files;
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    if (a.rfind("--engines=", 0) == 0)
      settings.engines = a.substr(10);
    else if (a.rfind("--full=", 0) == 0)
      settings.full = read_full(a.substr(7));
    else if (a == "--print-events")
      settings.print_events = true;
    else if (a == "--quiet")
      settings.quiet = true;
    else
      files.push_back(a);
  }
  Engines engines(settings.engines);
  Report report;
  for (const std::string& path : files) {
    const File f = load(path);
    const int before = report.failures, known = report.known;
    report.expected = !f.todo.empty();
    FileTest(f, engines, settings, report).run();
    report.expected = false;
    if (!f.todo.empty() && report.known == known) report.fail(path, "passes: take the TODO out (" + f.todo + ")");
    if (!f.todo.empty() && report.known != known) std::printf("TODO %s: %s\n", path.c_str(), f.todo.c_str());
    if (!settings.quiet) std::printf("%s %s\n", report.failures == before ? "ok  " : "BAD ", path.c_str());
  }
  std::printf("%zu files, %d failures, %d outputs without a recording\n", files.size(), report.failures,
              report.unrecorded);
  return report.failures != 0;
}
