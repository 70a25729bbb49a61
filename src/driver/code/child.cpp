// SPDX-License-Identifier: Apache-2.0
// A child would be found by the guest's wait(), and its end would signal SIGCHLD. So there are two: a helper whose end
// is silent (clone with no signal; only waits that ask for such children see it), and the program, child of the helper.
// The helper is a copy of a process of many threads: between clone and its end it makes system calls only.
#include "driver/code/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace us::driver {
namespace {

constexpr int kTimeOut = 124;
constexpr const char* kKept[] = {"PATH", "HOME", "TMPDIR"};  // of the guest's environment

pid_t clone_process(int signal) { return static_cast<pid_t>(syscall(SYS_clone, signal, 0, 0, 0, 0)); }

struct Words {
  explicit Words(const std::vector<std::string>& texts) {
    for (const std::string& t : texts) pointers.push_back(const_cast<char*>(t.c_str()));
    pointers.push_back(nullptr);
  }
  std::vector<char*> pointers;
};

std::vector<std::string> environment() {
  std::vector<std::string> out = {"UNDERSTUDY_STOCK_TOOLS=1"};  // of a run, too: the one that was asked for
  for (const char* name : kKept)
    if (const char* value = ::getenv(name)) out.push_back(std::string(name) + "=" + value);
  return out;
}

[[noreturn]] void become(char* const* argv, char* const* envp, const TimeLimit& limit) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit processor{limit.processor_seconds, limit.processor_seconds};
  setrlimit(RLIMIT_CPU, &processor);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const int s : {SIGCHLD, SIGPIPE, SIGINT, SIGTERM, SIGXCPU}) ::signal(s, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
  syscall(SYS_close_range, 3, ~0u, 0);
  execve(argv[0], argv, envp);
  _exit(127);
}

[[noreturn]] void supervise(char* const* argv, char* const* envp, const TimeLimit& limit) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t child = clone_process(SIGCHLD);
  if (child == 0) become(argv, envp, limit);
  if (child < 0) _exit(127);
  const u64 step = 2'000'000;
  for (u64 waited = 0; waited < limit.seconds * u64{1'000'000'000}; waited += step) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG | __WALL);
    if (ended == child) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    const timespec pause{0, static_cast<long>(step)};
    nanosleep(&pause, nullptr);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, __WALL);
  _exit(kTimeOut);
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& command, const TimeLimit& limit) {
  const Words argv(command);
  const std::vector<std::string> kept = environment();
  const Words envp(kept);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of the guest runs in the copy
  const pid_t helper = clone_process(0);
  if (helper == 0) supervise(argv.pointers.data(), envp.pointers.data(), limit);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  int status = 0;
  while (helper > 0 && waitpid(helper, &status, __WALL) < 0)
    if (errno != EINTR) return ChildEnd::Failed;
  if (helper < 0 || !WIFEXITED(status)) return ChildEnd::Failed;
  if (WEXITSTATUS(status) == kTimeOut) return ChildEnd::TimeOut;
  return WEXITSTATUS(status) == 0 ? ChildEnd::Good : ChildEnd::Failed;
}

}  // namespace us::driver
