// SPDX-License-Identifier: Apache-2.0
// A client asks ptxas for a cubin. The program it starts becomes our stand-in, with the same arguments and one variable
// more, which names the program that was meant. nvcc without -cubin is a build: it and what it starts stay as they are.
//
// This runs between fork, or vfork, and exec, on a small stack, in the program's threads: system calls only, and no
// thread-local data of ours.
#include "loader/exec_hook.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>

#include "loader/code_pages.h"
#include "loader/jump.h"
#include "loader/libraries.h"
#include "loader/object_file.h"

namespace us::loader {
namespace {

constexpr char kStandIn[] = "/understudy_standin",
               kStockTool[] = "UNDERSTUDY_STOCK_TOOL=", kKeepStock[] = "UNDERSTUDY_STOCK_TOOLS=1";
constexpr size_t kMostVariables = 1000;  // pointers on a stack of 32 KiB or more
int* (*errno_of_program)() = nullptr;

long call(long number, long a, long b, long c, long d) {
  long result;
  register long fourth asm("r10") = d;
  asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return result;
}
long exec(const char* path, char* const* argv, char* const* envp) {
  return call(SYS_execve, reinterpret_cast<long>(path), reinterpret_cast<long>(argv), reinterpret_cast<long>(envp), 0);
}
bool executable(const char* path) { return call(SYS_faccessat, AT_FDCWD, reinterpret_cast<long>(path), X_OK, 0) == 0; }

enum class Start { AsItIs, WithStockTools, StandIn };

Start judge(const char* path, char* const* argv, char* const* envp, size_t& variables) {
  variables = 0;
  for (char* const* e = envp; e && *e; ++e, ++variables)
    if (strcmp(*e, kKeepStock) == 0) return Start::AsItIs;
  if (variables > kMostVariables || is_own(path) || !argv) return Start::AsItIs;
  const char* slash = strrchr(path, '/');
  const char* name = slash ? slash + 1 : path;
  for (const char* tool : {"ptxas", "ptxas-blackwell", "nvlink", "fatbinary"})
    if (strcmp(name, tool) == 0) return Start::StandIn;
  if (strcmp(name, "nvcc") != 0) return Start::AsItIs;
  for (char* const* a = argv; *a; ++a)
    if (strcmp(*a, "-cubin") == 0 || strcmp(*a, "--cubin") == 0) return Start::StandIn;
  return Start::WithStockTools;
}

long start(const char* path, char* const* argv, char* const* envp) {
  size_t n = 0;
  const Start how = path ? judge(path, argv, envp, n) : Start::AsItIs;
  if (how == Start::AsItIs || !executable(path)) return exec(path, argv, envp);
  char* variables[kMostVariables + 2];
  char stand_in[PATH_MAX], meant[sizeof kStockTool + PATH_MAX];
  for (size_t i = 0; i < n; ++i) variables[i] = envp[i];
  variables[n] = const_cast<char*>(kKeepStock);
  variables[n + 1] = nullptr;
  if (how == Start::WithStockTools) return exec(path, argv, variables);
  if (strlen(path) >= PATH_MAX) return exec(path, argv, envp);
  strcat(strcpy(stand_in, own_directory()), kStandIn);
  variables[n] = strcat(strcpy(meant, kStockTool), path);
  if (executable(stand_in)) exec(stand_in, argv, variables);
  return exec(path, argv, envp);
}

int execve_for_program(const char* path, char* const* argv, char* const* envp) {
  const long result = start(path, argv, envp);
  *errno_of_program() = static_cast<int>(-result);
  return -1;
}

}  // namespace

void watch_exec(const link_map& object, Lmid_t space) {
  const char* slash = strrchr(object.l_name, '/');
  if (space != LM_ID_BASE || !slash || strcmp(slash, "/libc.so.6") != 0 || !own_directory()[0]) return;
  const ObjectFile file(object.l_name, ObjectFile::Table::Dynamic);
  if (!file.matches(object)) return;
  Elf64_Addr at = 0, errno_at = 0;
  file.each_function([&](const char* name, const Elf64_Sym& s) {
    if (strcmp(name, "execve") == 0 && s.st_size >= kJumpBytes) at = s.st_value;
    if (strcmp(name, "__errno_location") == 0) errno_at = s.st_value;
  });
  int protection = 0;
  if (!at || !errno_at || !file.code(at, kJumpBytes, protection)) return;
  auto* const code = reinterpret_cast<unsigned char*>(object.l_addr + at);
  const WritableCode pages(code, kJumpBytes, protection);
  if (!pages) return;
  errno_of_program = reinterpret_cast<int* (*)()>(object.l_addr + errno_at);
  write_jump(code, reinterpret_cast<void (*)()>(&execve_for_program));
}

}  // namespace us::loader
