// SPDX-License-Identifier: Apache-2.0
// What a driver answers to images of all kinds, as a module and as a library, and to the calls that checkpoint a
// process. Its output on an H100 is images.tsv.
//   images FILE...        each image: file, cuModuleLoadData, cuModuleGetFunction, cuLibraryLoadData, kernels,
//                         cuLibraryGetKernel, cuLibraryGetModule, cuKernelGetFunction, cuLibraryLoadFromFile
//   images --checkpoint   calls of a process for another that uses the device
#include <cuda.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

static const char* name(CUresult r) {
  const char* text = nullptr;
  return cuGetErrorName(r, &text) == CUDA_SUCCESS ? text + (strncmp(text, "CUDA_", 5) == 0 ? 5 : 0) : "?";
}

static void begin() {
  CUdevice d;
  CUcontext c;
  cuInit(0), cuDeviceGet(&d, 0), cuDevicePrimaryCtxRetain(&c, d), cuCtxSetCurrent(c);
}

static void image(const char* file) {
  begin();
  std::ifstream in(file, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
  bytes.resize(bytes.size() + (1 << 20));  // zeros: what reads behind the end finds nothing
  const char* base = strrchr(file, '/');
  printf("image\t%s", base ? base + 1 : file);
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  CUresult r = cuModuleLoadData(&m, bytes.data());
  printf("\t%s", name(r));
  printf("\t%s", r ? "-" : name(cuModuleGetFunction(&f, m, "k")));
  CUlibrary l = nullptr;
  r = cuLibraryLoadData(&l, bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  printf("\t%s", name(r));
  if (r) {
    printf("\t-\t-\t-\t-");
  } else {
    unsigned n = 0;
    CUresult q = cuLibraryGetKernelCount(&n, l);
    if (q) printf("\t%s", name(q));
    else printf("\t%u", n);
    CUkernel k = nullptr;
    q = cuLibraryGetKernel(&k, l, "k");
    printf("\t%s", name(q));
    CUmodule lm = nullptr;
    printf("\t%s", name(cuLibraryGetModule(&lm, l)));
    printf("\t%s", q ? "-" : name(cuKernelGetFunction(&f, k)));
    printf(" unload %s", name(cuLibraryUnload(l)));
  }
  r = cuLibraryLoadFromFile(&l, file, nullptr, nullptr, 0, nullptr, nullptr, 0);
  printf("\t%s\n", name(r));
}

static const char* state_name(int pid) {
  static char text[64];
  CUprocessState s{};
  const CUresult r = cuCheckpointProcessGetState(pid, &s);
  static const char* const states[] = {"RUNNING", "LOCKED", "CHECKPOINTED", "FAILED"};
  snprintf(text, sizeof text, "%s", r ? name(r) : static_cast<int>(s) < 4 ? states[s] : "other");
  return text;
}
static void say(const char* what, CUresult r, int pid) { printf("checkpoint\t%s\t%s\t%s\n", what, name(r), state_name(pid)), fflush(stdout); }
static CUresult lock(int p, unsigned ms = 5000) { CUcheckpointLockArgs a{}; a.timeoutMs = ms; return cuCheckpointProcessLock(p, &a); }
static CUresult checkpoint(int p) { CUcheckpointCheckpointArgs a{}; return cuCheckpointProcessCheckpoint(p, &a); }
static CUresult restore(int p) { CUcheckpointRestoreArgs a{}; return cuCheckpointProcessRestore(p, &a); }
static CUresult unlock(int p) { CUcheckpointUnlockArgs a{}; return cuCheckpointProcessUnlock(p, &a); }
static CUresult thread(int p) { int t = 0; CUresult r = cuCheckpointProcessGetRestoreThreadId(p, &t); printf("checkpoint\tthread is the process\t%d\t-\n", t == p); return r; }

// A process that uses the device, and prints what it reads from it for each byte that it gets.
static int target(int& to, int& from) {
  int in[2], out[2];
  if (pipe(in) || pipe(out)) return 0;
  const int pid = fork();
  if (pid) return close(in[0]), close(out[1]), to = in[1], from = out[0], pid;
  close(in[1]), close(out[0]);
  char c = 'r';
  if (to < 0) { (void)!write(out[1], &c, 1); (void)!read(in[0], &c, 1); _exit(0); }  // without the device
  begin();
  CUdeviceptr p;
  cuMemAlloc(&p, 1024), cuMemsetD8(p, 42, 1024);
  (void)!write(out[1], &c, 1);
  while (read(in[0], &c, 1) == 1) c = 0, cuMemcpyDtoH(&c, p + 5, 1), (void)!write(out[1], &c, 1);
  _exit(0);
}
static int answer(int from) { char c = 0; return read(from, &c, 1) == 1 ? c : -1; }

static void checkpoints() {
  alarm(60);
  int to = 0, from = 0, none_to = -1, none_from = 0;
  const int pid = target(to, from), none = target(none_to, none_from);
  answer(from), answer(none_from);
  printf("checkpoint\tstate before cuInit\t%s\t-\n", state_name(pid));
  cuInit(0);
  say("state", CUDA_SUCCESS, pid);
  say("of no process", lock(999999), 999999);
  say("of a process without the device", lock(none), none);
  say("of itself, before a context", lock(getpid(), 10), getpid());
  unlock(getpid());
  say("unlock when running", unlock(pid), pid);
  say("checkpoint when running", checkpoint(pid), pid);
  say("restore when running", restore(pid), pid);
  say("thread", thread(pid), pid);
  say("lock without arguments", cuCheckpointProcessLock(pid, nullptr), pid);
  say("unlock", unlock(pid), pid);
  say("lock", lock(pid), pid);
  say("lock again", lock(pid), pid);
  say("restore when locked", restore(pid), pid);
  (void)!write(to, "x", 1);  // waits for the unlock
  say("checkpoint", checkpoint(pid), pid);
  say("checkpoint again", checkpoint(pid), pid);
  say("lock when checkpointed", lock(pid), pid);
  say("unlock when checkpointed", unlock(pid), pid);
  say("restore", restore(pid), pid);
  say("restore again", restore(pid), pid);
  say("unlock", unlock(pid), pid);
  printf("checkpoint\tits memory\t%d\t-\n", answer(from));
  if (fork() == 0) {
    alarm(15);
    if (setuid(65534)) _exit(1);
    printf("checkpoint\tcuInit of another user\t%s\t-\n", name(cuInit(0)));
    say("state for another user", CUDA_SUCCESS, pid);
    say("lock by another user", lock(pid), pid);
    say("unlock by another user", unlock(pid), pid);
    fflush(stdout), _exit(0);
  }
  wait(nullptr);
  say("unlock after that", unlock(pid), pid);
  say("getState without a place", cuCheckpointProcessGetState(pid, nullptr), pid);
  kill(pid, SIGKILL), waitpid(pid, nullptr, 0);
  say("of a process that has ended", lock(pid), pid);
  kill(none, SIGKILL);
}

int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "--checkpoint") == 0) return checkpoints(), 0;
  for (int i = 1; i < count; ++i) {
    fflush(stdout);
    if (fork() == 0) return alarm(20), image(arguments[i]), 0;
    int status = 0;
    wait(&status);
    if (WIFSIGNALED(status)) printf(" ended by signal %d\n", WTERMSIG(status));
  }
}
