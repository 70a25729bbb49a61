// SPDX-License-Identifier: Apache-2.0
#include "tools/run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/files.h"
#include "base/settings.h"
#include "driver/preset.h"
#include "tools/exit_codes.h"
#include "tools/host.h"
#include "tools/program.h"
#include "tools/recordings.h"
#include "tools/terminal.h"

namespace us::tools {
namespace {

namespace fs = std::filesystem;

void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

// The program may change its directory, so files named on the command line become absolute.
void set_settings(const std::map<std::string, std::string>& settings) {
  for (auto [name, value] : settings) {
    const bool file = name == "UNDERSTUDY_JSON" || name == "UNDERSTUDY_NVRTC" || name == "UNDERSTUDY_NVJITLINK" ||
                      name == "UNDERSTUDY_NVFATBIN" || name == "UNDERSTUDY_RECORD" ||
                      (name == "UNDERSTUDY_CACHE" && value != "none");
    set(name.c_str(), file && !value.empty() ? fs::absolute(value).string() : value);
  }
}

bool settings_are_valid(const RunRequest& request) {
  const auto settings = read_settings();
  if (!settings) return complain(settings.diags()), false;
  if (const auto why = cannot_write(*settings); !why.empty()) return complain(why), false;
  if (const auto why = request.trace.empty() ? "" : why_no_file(request.trace); !why.empty())
    return complain(fmt::format("--trace {}: {}", request.trace, why)), false;
  const auto devices = driver::find_presets(settings->device, settings->devices);
  if (!devices) return complain(devices.diags()), false;
  return true;
}

// The GNU C library lays out thread-local data early if there is an audit library, with 512 bytes left for the
// libraries of the program. Every thread's stack pays for more.
void leave_room_for_thread_local_data(const Program& program) {
  constexpr u32 kUsual = 4 << 10, kThreadSanitizer = 1 << 20;
  const char* preload = std::getenv("LD_PRELOAD");
  const bool sanitizer = program.thread_sanitizer || (preload && std::strstr(preload, "libtsan.so"));
  const char* old = std::getenv("GLIBC_TUNABLES");
  const std::string name = "glibc.rtld.optional_static_tls";
  if (old && std::strstr(old, name.c_str())) return;
  set("GLIBC_TUNABLES", prepend(fmt::format("{}={}", name, sanitizer ? kThreadSanitizer : kUsual), old, ':'));
}

bool set_libraries(const Program& program) {
  const std::string lib = library_directory(), loader = lib + "/libunderstudy_loader.so";
  for (const std::string& file : {lib + "/libcuda.so.1", lib + "/libcudart.so.13", lib + "/libcudart.so.12", loader})
    if (!fs::exists(file)) {
      complain(fmt::format("{} must exist: build it, or install understudy as a whole", file));
      return false;
    }
  // The audit library sees to every load (src/loader); the path is for what is loaded without it.
  leave_room_for_thread_local_data(program);
  set("LD_AUDIT", prepend(loader, std::getenv("LD_AUDIT"), ':'));
  if (setting_text("profile_host_clock") == "1")
    set("LD_PRELOAD", prepend(lib + "/libunderstudy_clock.so", std::getenv("LD_PRELOAD"), ':'));
  set("LD_LIBRARY_PATH", prepend(lib, std::getenv("LD_LIBRARY_PATH"), ':'));
  if (const std::string python = lib + "/understudy_python"; fs::exists(python))  // for clients in Python (python/site)
    set("PYTHONPATH", prepend(python, std::getenv("PYTHONPATH"), ':'));
  return true;
}

pid_t child = 0;
void pass_on(int signal) {
  if (child > 0) ::kill(child, signal);
}

// A terminal sends its signals to the child as well, so we only outlive them; SIGTERM and SIGHUP are passed on.
void handle_signals() {
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGQUIT, SIG_IGN);
  struct sigaction action = {};
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  for (const int s : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) ::sigaction(s, &action, nullptr);
}

[[noreturn]] void become(const std::string& path, const std::vector<std::string>& command, int report_to) {
  std::vector<char*> argv;
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::execv(path.c_str(), argv.data());
  if (errno == ENOEXEC) {  // a script without an interpreter line
    std::string shell = "/bin/sh", script = path;
    argv[0] = script.data();
    argv.insert(argv.begin(), shell.data());
    ::execv(shell.c_str(), argv.data());
  }
  const int error = errno;
  (void)!::write(report_to, &error, sizeof error);
  ::_exit(kExitNotExecutable);
}

int wait_for_child() {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return kExitUsage;
  return WIFSIGNALED(status) ? kExitSignal + WTERMSIG(status) : WEXITSTATUS(status);
}

int start(const std::string& path, const std::vector<std::string>& command) {
  int failed[2];
  if (::pipe2(failed, O_CLOEXEC) != 0) return complain(fmt::format("pipe: {}", std::strerror(errno))), kExitUsage;
  child = ::fork();
  if (child < 0) return complain(fmt::format("fork: {}", std::strerror(errno))), kExitUsage;
  if (child == 0) become(path, command, failed[1]);
  handle_signals();
  ::close(failed[1]);
  int error = 0;
  const bool started = ::read(failed[0], &error, sizeof error) != static_cast<ssize_t>(sizeof error);
  ::close(failed[0]);
  const int code = wait_for_child();
  if (started) return code;
  complain(fmt::format("{}: {}", path, std::strerror(error)));
  return error == ENOENT ? kExitNotFound : kExitNotExecutable;
}

void explain_own_runtime(const std::string& name, Program::OwnRuntime how) {
  const bool stripped = how == Program::OwnRuntime::Stripped;
  complain(fmt::format(
      "{} contains the CUDA runtime itself (libcudart_static), and its calls cannot be sent to the virtual GPU: {}.",
      name, stripped ? "its symbol table was stripped" : "it is linked statically as a whole"));
  if (stripped)
    fmt::print(stderr, "  Run it unstripped (no `strip`, `-s`, `install -s` or `cmake --install --strip`), or\n");
  fmt::print(stderr,
             "  {}ink it with the shared runtime and run it again:\n"
             "    nvcc  -cudart shared ...\n"
             "    CMake set(CMAKE_CUDA_RUNTIME_LIBRARY Shared) before the targets\n"
             "    g++   -lcudart instead of -lcudart_static\n",
             stripped ? 'l' : 'L');
  if (stripped)
    fmt::print(stderr,
               "  or name the archive that it was linked from, of exactly that version of the toolkit:\n"
               "    understudy run --static-runtime .../libcudart_static.a ...\n");
}

}  // namespace

int run_program(const RunRequest& request) {
  set_settings(request.settings);
  if (!settings_are_valid(request)) return kExitUsage;
  const std::string& name = request.command.front();
  const Program program = examine_program(name);
  if (program.path.empty()) return complain(fmt::format("{}: not found", name)), kExitNotFound;
  if (!program.executable) return complain(fmt::format("{}: not executable", program.path)), kExitNotExecutable;
  if (program.own_runtime != Program::OwnRuntime::None)
    return explain_own_runtime(name, program.own_runtime), kExitStaticRuntime;
  if (!set_libraries(program)) return kExitUsage;
  const Recordings recordings(request);
  if (!recordings.ready()) return kExitUsage;
  const int code = start(program.path, request.command);
  recordings.report();
  return code;
}

}  // namespace us::tools
