// SPDX-License-Identifier: Apache-2.0
// What kernels take of an SM, against the recording of an H100; where the numbers come from when the program does not
// bring them.
#include "driver/code/resources.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "driver/code/assembler.h"
#include "driver/code/child.h"
#include "driver/code/facts_cache.h"
#include "driver/code/occupancy.h"

namespace us::driver {
namespace {

namespace fs = std::filesystem;

struct Kernel {
  std::string name;
  u32 registers = 0, local = 0, shared = 0, constants = 0, max_threads = 0;
  u32 bound() const {  // bounded<VALUES, THREADS>
    return name.starts_with("bounded") ? static_cast<u32>(std::stoul(name.substr(name.find(' ')))) : 1024;
  }
};

TEST(Resources, AnswersOfTheH100) {
  std::ifstream in(US_SOURCE_DIR "/oracle/api/kernel_resources.tsv");
  ASSERT_TRUE(in);
  const DeviceSpec d;
  Kernel k;
  u32 kernels = 0, answers = 0;
  const auto resident = [&](u32 threads, u64 dynamic) {
    return blocks_per_sm(d, {threads, k.registers, k.shared + dynamic});
  };
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string what;
    std::getline(words, what, '\t');
    const std::string where = k.name + ": " + line;
    u32 a = 0, b = 0, c = 0;
    if (what == "kernel") {
      std::getline(words, k.name, '\t');
      words >> k.registers >> k.local >> k.shared >> k.constants >> k.max_threads;
      EXPECT_EQ(std::min(k.bound(), threads_that_fit(d, k.registers)), k.max_threads) << line;
      ++kernels;
    } else if (what == "blocks") {
      words >> a >> b >> c;
      EXPECT_EQ(resident(a, b), c) << where;
      ++answers;
    } else if (what == "launch") {
      words >> a >> b;
      EXPECT_EQ(a > k.bound() ? 1u : resident(a, 2048) ? 0u : 701u, b) << where;
      ++answers;
    } else if (what == "cooperative") {
      words >> a >> b;
      EXPECT_EQ(resident(64, 0) * d.sms < a ? 720u : 0u, b) << where;
      ++answers;
    }
  }
  EXPECT_EQ(kernels, 40u);
  EXPECT_EQ(answers, 2680u);
}

struct Directory {
  std::string path;
  Directory() : path(fs::temp_directory_path() / "resources-XXXXXX") { EXPECT_TRUE(mkdtemp(path.data())); }
  ~Directory() { fs::remove_all(path); }
  std::string program(const std::string& text) const {
    const std::string file = path + "/program";
    std::ofstream(file) << "#!/bin/sh\n" << text;
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
};

bool operator==(const sass::Cubin& a, const sass::Cubin& b) {
  return a.sm == b.sm && a.ptx_sm == b.ptx_sm && a.constant_bytes == b.constant_bytes && a.kernels == b.kernels;
}

const sass::Cubin two{.sm = 90,
                      .ptx_sm = 80,
                      .constant_bytes = 403,
                      .kernels = {{"_Z5plainPi", 12, 0, 0, 0, 0}, {"large", 124, 40, 400, 1000, 512}}};

TEST(FactsCache, KeepsWhatItWasGiven) {
  const Directory d;
  const FactsCache cache(d.path + "/new");
  EXPECT_FALSE(cache.load("k"));
  cache.store("k", two);
  ASSERT_TRUE(cache.load("k"));
  EXPECT_TRUE(*cache.load("k") == two);
  EXPECT_FALSE(cache.load("other"));
  fs::copy_file(d.path + "/new/facts/k", d.path + "/new/facts/other");
  EXPECT_FALSE(cache.load("other")) << "the key is part of the file";
  FactsCache("").store("k", two);
  EXPECT_FALSE(FactsCache("").load("k"));
}

TEST(FactsCache, DamageIsAMiss) {
  const Directory d;
  const FactsCache cache(d.path);
  cache.store("k", two);
  const std::string file = d.path + "/facts/k";
  std::ostringstream whole;
  whole << std::ifstream(file).rdbuf();
  for (std::size_t at = 0; at < whole.str().size(); ++at) {
    std::string text = whole.str();
    text[at] ^= 1;
    std::ofstream(file) << text;
    EXPECT_FALSE(cache.load("k")) << at;
    std::ofstream(file) << whole.str().substr(0, at);
    EXPECT_FALSE(cache.load("k")) << at;
  }
}

TEST(FactsCache, TrustsNeitherLinksNorOpenFiles) {
  const Directory d;
  const FactsCache cache(d.path);
  cache.store("k", two);
  fs::rename(d.path + "/facts/k", d.path + "/k");
  fs::create_symlink(d.path + "/k", d.path + "/facts/k");
  EXPECT_FALSE(cache.load("k"));
  fs::remove(d.path + "/facts/k");
  fs::rename(d.path + "/k", d.path + "/facts/k");
  EXPECT_TRUE(cache.load("k"));
  fs::permissions(d.path + "/facts/k", fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(cache.load("k"));
  fs::permissions(d.path + "/facts/k", fs::perms::others_write, fs::perm_options::remove);
  fs::permissions(d.path + "/facts", fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(cache.load("k"));
  fs::permissions(d.path + "/facts", fs::perms::group_write, fs::perm_options::remove);
  fs::rename(d.path + "/facts", d.path + "/elsewhere");
  fs::create_directory_symlink(d.path + "/elsewhere", d.path + "/facts");
  EXPECT_FALSE(cache.load("k"));
  cache.store("new", two);
  EXPECT_FALSE(fs::exists(d.path + "/elsewhere/new"));
}

volatile sig_atomic_t signals_seen = 0;

TEST(Child, EndsInTimeAndUnnoticed) {
  const Directory d;
  const auto before = std::signal(SIGCHLD, [](int) { signals_seen = signals_seen + 1; });
  const TimeLimit limit{10, 10};
  EXPECT_EQ(run_child({d.program("exit 0")}, limit), ChildEnd::Good);
  EXPECT_EQ(run_child({d.program("exit 3")}, limit), ChildEnd::Failed);
  EXPECT_EQ(run_child({d.program("kill -9 $$")}, limit), ChildEnd::Failed);
  EXPECT_EQ(run_child({d.path + "/nothing"}, limit), ChildEnd::Failed);
  EXPECT_EQ(run_child({d.program("exec sleep 20")}, {10, 1}), ChildEnd::TimeOut);
  EXPECT_EQ(run_child({d.program("while :; do :; done")}, {1, 20}), ChildEnd::Failed) << "processor time";
  EXPECT_EQ(run_child({d.program("echo $2 > $1; env | wc -l >> $1"), d.path + "/words", "a b"}, limit), ChildEnd::Good);
  std::ifstream words(d.path + "/words");
  std::string line;
  std::getline(words, line);
  EXPECT_EQ(line, "a b");
  EXPECT_EQ(signals_seen, 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  std::signal(SIGCHLD, before);
}

TEST(Assembler, IsAskedOnceAboutAModule) {
  const Directory d;
  const std::string ptxas = d.program("echo \"$@\" >> " + d.path + "/calls; exit 1");
  const auto calls = [&] {
    std::ifstream in(d.path + "/calls");
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  const auto ask = [&](const std::string& ptx, const std::string& options, const std::string& cache) {
    Assembler a(ptxas, cache);
    return a.ask({.ptx = {{.ptx = ptx, .options = options}}, .objects = {}}, 90);
  };
  const std::string text = "\n.version 9.0\n.target sm_90a, debug\n.address_size 64\n";
  EXPECT_FALSE(ask(text, " -maxrregcount=32 -o /nowhere ", d.path));
  EXPECT_FALSE(ask(text, " -maxrregcount=32 -o /nowhere ", d.path));
  ASSERT_EQ(calls().size(), 1u);
  EXPECT_NE(calls()[0].find("-arch=sm_90a --device-debug -maxrregcount=32"), std::string::npos) << calls()[0];
  EXPECT_EQ(calls()[0].find("nowhere"), std::string::npos);
  EXPECT_FALSE(ask(text, "", d.path));
  EXPECT_FALSE(ask(text + " ", "", d.path));
  EXPECT_EQ(calls().size(), 3u);
  EXPECT_FALSE(ask(text, "", ""));
  EXPECT_FALSE(ask(text, "", ""));
  EXPECT_EQ(calls().size(), 5u);
  EXPECT_FALSE(Assembler("none", "").ask({.ptx = {{.ptx = text, .options = {}}}, .objects = {}}, 90));
}

TEST(Assembler, MachineCodeIsKept) {
  const std::string real = Assembler::find();
  if (real.empty()) GTEST_SKIP() << "no ptxas";
  const Directory d;
  const auto calls = [&] {
    std::ifstream in(d.path + "/calls");
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
  };
  const std::string logs = "echo >> " + d.path + "/calls; ";
  const ptx::Image text{.ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n",
                        .options = {}};
  const auto words = [&](const std::string& ptxas, const ptx::Image& t, const std::string& cache) {
    std::vector<u64> all;
    const auto image = Assembler(ptxas, cache).image(t, 90);
    if (!image) return all;
    for (const sass::Instruction& i : image->code.functions.at(0).instructions) all.push_back(i.word.lo);
    return all;
  };
  const std::string ptxas = d.program(logs + "exec " + real + " \"$@\"\n");
  const auto first = words(ptxas, text, d.path);
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(calls(), 1);
  EXPECT_EQ(words(ptxas, text, d.path), first);
  EXPECT_EQ(calls(), 1);
  EXPECT_EQ(words(ptxas, {.ptx = text.ptx, .options = "-maxrregcount=32"}, d.path), first);
  EXPECT_EQ(calls(), 2) << "options decide";
  EXPECT_EQ(words(ptxas, text, ""), first);
  EXPECT_EQ(calls(), 3) << "no cache";
  fs::last_write_time(ptxas, fs::last_write_time(ptxas) + std::chrono::hours(1));
  EXPECT_EQ(words(ptxas, text, d.path), first);
  EXPECT_EQ(calls(), 4) << "another ptxas";
  const std::string bad = d.program(logs + "exit 1\n");
  EXPECT_TRUE(words(bad, text, d.path).empty());
  EXPECT_TRUE(words(bad, text, d.path).empty());
  EXPECT_EQ(calls(), 6) << "what it refuses is asked again, for its reason";
}

// How an H200 divides L1 for kernels that say nothing about it: oracle/timing, first launches.
// An H200 has room for 66, 30, 15 and 7 clusters of one block on a multiprocessor (cudaOccupancyMaxActiveClusters with
// 227 KiB of shared memory); of 128 blocks in clusters of 4 it put two on 7 multiprocessors.
TEST(Resources, ClustersDoNotFillTheH200) {
  const DeviceSpec d;
  EXPECT_EQ(sms_of_clusters(d, 1), 132u);
  EXPECT_EQ(sms_of_clusters(d, 2), 132u);
  EXPECT_EQ(sms_of_clusters(d, 4), 120u);
  EXPECT_EQ(sms_of_clusters(d, 8), 120u);
  EXPECT_EQ(sms_of_clusters(d, 16), 112u);
}

TEST(Resources, UsualSplitOfTheH200) {
  const DeviceSpec d;
  u32 kernels = 0, right = 0;
  for (const char* const folder : {"", "public/"}) {
    std::ifstream in(std::string(US_SOURCE_DIR "/oracle/timing/") + folder + "metrics.tsv");
    ASSERT_TRUE(in);
    std::map<std::string, std::vector<double>> metrics;
    for (std::string line; std::getline(in, line);) {
      std::stringstream cells(line);
      std::string name, cell;
      std::getline(cells, name, '\t');
      if (!name.starts_with("launch__")) continue;
      while (std::getline(cells, cell, '\t')) {
        std::erase(cell, ',');
        metrics[name].push_back(std::strtod(cell.c_str(), nullptr));
      }
    }
    const auto& splits = metrics["launch__shared_mem_config_size"];
    for (std::size_t k = 0; k < splits.size(); ++k) {
      if (!(splits[k] > 0)) continue;
      const auto of = [&](const char* name) { return static_cast<u32>(metrics[name].at(k)); };
      const BlockNeeds n{.threads = of("launch__block_size"),
                         .registers = of("launch__registers_per_thread"),
                         .shared = of("launch__shared_mem_per_block") - d.shared_reserved_per_block};
      ++kernels, right += usual_split(d, n, blocks_per_sm(d, n)) == static_cast<u64>(splits[k]);
    }
  }
  EXPECT_GE(kernels, 380u);
  EXPECT_GE(right, kernels * 96 / 100);
}

}  // namespace
}  // namespace us::driver
