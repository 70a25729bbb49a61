// SPDX-License-Identifier: Apache-2.0
// Unit tests of CUDA code on a virtual device: C++17, this header alone, nothing to link with. Include it behind the
// header of GoogleTest or Catch2 (2 or 3).
//
//   int main(int argc, char** argv) {              // GoogleTest
//     understudy::start(argv);                     // from here on there is a device, and it is checked
//     testing::InitGoogleTest(&argc, argv);
//     testing::UnitTest::GetInstance()->listeners().Append(new understudy::GoogleTestListener);
//     return RUN_ALL_TESTS();
//   }
//
//   int main(int argc, char** argv) {              // Catch2, with CATCH_CONFIG_RUNNER or without its own main
//     understudy::start(argv);
//     return Catch::Session().run(argc, argv);
//   }
//   using understudy::Catch2Listener;              // the macro wants a plain name
//   CATCH_REGISTER_LISTENER(Catch2Listener)
//
// What a test does wrong with CUDA fails that test (GoogleTest), or is printed below its name (Catch2, whose listeners
// cannot fail a test); either way the process ends with 120. A defect that several tests meet is told in the first one.
// A program that is started by `understudy check` needs no start().
#ifndef UNDERSTUDY_TEST_H
#define UNDERSTUDY_TEST_H
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace understudy {

struct Start {
  bool check = true;                 // false: `understudy run`
  std::vector<std::string> options;  // of understudy: {"--device", "h100"}
  std::string program;               // empty: UNDERSTUDY_PROGRAM, else `understudy` on PATH
};

inline bool started() { return std::getenv("UNDERSTUDY_TEST") || std::getenv("UNDERSTUDY_CHECK"); }

inline std::string program_path(const std::string& wanted = {}) {
  const char* const named = std::getenv("UNDERSTUDY_PROGRAM");
  return !wanted.empty() ? wanted : named && *named ? named : "understudy";
}

// Starts this program anew under the virtual device, once; call it before anything else. It does not return without a
// device: a program that cannot have one ends with 127 and a sentence.
inline void start(char** argv, const Start& how = {}) {
  if (started()) return;
  setenv("UNDERSTUDY_TEST", "1", 1);
  const std::string program = program_path(how.program);
  setenv("UNDERSTUDY_PROGRAM", program.c_str(), 1);
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  self[n > 0 ? n : 0] = 0;
  std::vector<const char*> words{program.c_str(), how.check ? "check" : "run"};
  for (const std::string& option : how.options) words.push_back(option.c_str());
  words.push_back("--");
  words.push_back(self);
  for (char** a = argv + 1; *a; ++a) words.push_back(*a);
  words.push_back(nullptr);
  execvp(words[0], const_cast<char**>(words.data()));
  std::fprintf(stderr, "understudy::start: %s: %s; put it on PATH or set UNDERSTUDY_PROGRAM\n", program.c_str(), std::strerror(errno));
  _exit(127);
}

struct Saw {
  bool errors = false;  // there is an error among the findings
  std::string text;     // the findings as `understudy check` prints them, with source lines; empty: none
};

// What is found from its construction on, in this process.
class Watch {
 public:
  Watch() : from_(size()) {}
  // Waits for the work of the current context; what was found since the construction or the last call.
  Saw saw() {
    wait();
    const std::uint64_t from = from_, to = from_ = size();
    return to > from ? read(from, to) : Saw{};
  }

 private:
  static std::string file() {
    const char* const directory = std::getenv("UNDERSTUDY_CHECK");
    return directory && *directory ? std::string(directory) + "/" + std::to_string(getpid()) + ".findings" : std::string();
  }
  static std::string contents() {
    std::string bytes;
    std::FILE* const f = std::fopen(file().c_str(), "rb");
    if (!f) return bytes;
    char part[4096];
    for (std::size_t n; (n = std::fread(part, 1, sizeof part, f)) > 0;) bytes.append(part, n);
    std::fclose(f);
    return bytes;
  }
  static std::uint64_t size() { return contents().size(); }
  static void wait() {  // the driver is asked for, not loaded: a program that did not use it has no work
    void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver) return;
    const auto current = reinterpret_cast<int (*)(void**)>(dlsym(driver, "cuCtxGetCurrent"));
    const auto synchronize = reinterpret_cast<int (*)()>(dlsym(driver, "cuCtxSynchronize"));
    void* context = nullptr;
    if (current && synchronize && current(&context) == 0 && context) synchronize();
    dlclose(driver);
  }
  // Records follow each other, each behind its length; the first says whose they are.
  static Saw read(std::uint64_t from, std::uint64_t to) {
    Saw saw;
    const std::string all = contents();
    std::uint32_t first = 0;
    if (all.size() < to || all.size() < sizeof first) return saw;
    std::memcpy(&first, all.data(), sizeof first);
    const std::uint64_t head = sizeof first + first;
    char name[] = "/tmp/understudy-test.XXXXXX";
    const int fd = mkstemp(name);
    if (fd < 0) return saw;
    const std::string part = all.substr(0, head) + all.substr(from > head ? from : head, to - (from > head ? from : head));
    const bool written = write(fd, part.data(), part.size()) == static_cast<ssize_t>(part.size());
    close(fd);
    const std::string command = "env -u LD_AUDIT -u UNDERSTUDY_CHECK '" + program_path() + "' check --read " + name + " 2>&1";
    if (std::FILE* const p = written ? popen(command.c_str(), "r") : nullptr) {
      char line[4096];
      bool summary = false;  // what follows is of the whole file, which this is a part of
      while (std::fgets(line, sizeof line, p)) {
        summary |= std::strncmp(line, "understudy: ", 12) == 0 && std::strstr(line, " warning");
        if (!summary) saw.text += line;
      }
      const int status = pclose(p);
      saw.errors = status != 0;  // 120; or what kept the findings from being read, which is no pass
    }
    unlink(name);
    return saw;
  }

  std::uint64_t from_;
};

#if defined(GTEST_INCLUDE_GTEST_GTEST_H_) || defined(GOOGLETEST_INCLUDE_GTEST_GTEST_H_)
class GoogleTestListener : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { watch_ = Watch(); }
  void OnTestEnd(const ::testing::TestInfo&) override {
    const Saw saw = watch_.saw();
    if (saw.errors) ADD_FAILURE() << saw.text;
    if (!saw.errors && !saw.text.empty()) std::fprintf(stderr, "%s", saw.text.c_str());
  }
  Watch watch_;
};
#endif

#if defined(CATCH_VERSION_MAJOR)
#if CATCH_VERSION_MAJOR >= 3
using Catch2Base = Catch::EventListenerBase;
#else
using Catch2Base = Catch::TestEventListenerBase;
#endif
class Catch2Listener : public Catch2Base {
 public:
  using Catch2Base::Catch2Base;
  void testCaseStarting(Catch::TestCaseInfo const& info) override {
    Catch2Base::testCaseStarting(info);
    watch_ = Watch();
  }
  void testCaseEnded(Catch::TestCaseStats const& stats) override {
    const Saw saw = watch_.saw();
    if (!saw.text.empty()) std::fprintf(stderr, "%s:\n%s", name(stats.testInfo), saw.text.c_str());
    Catch2Base::testCaseEnded(stats);
  }

 private:
  static const char* name(const Catch::TestCaseInfo& info) { return info.name.c_str(); }
  static const char* name(const Catch::TestCaseInfo* info) { return info->name.c_str(); }  // Catch2 3
  Watch watch_;
};
#endif

}  // namespace understudy

#endif
