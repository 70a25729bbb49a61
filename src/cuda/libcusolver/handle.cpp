// SPDX-License-Identifier: Apache-2.0
// Handles, parameters and versions.
#include "cuda/libcusolver/solver.h"

using us::cusolver::kSuccess;

// What a program asks of an iteration is kept; LAPACK's do not iterate with these.
struct syevjInfo {
  double tolerance = 0;
  int sweeps = 100, sort = 1;
};
struct gesvdjInfo : syevjInfo {};
struct cusolverDnParams {
  cusolverAlgMode_t algorithms[3] = {};
};

namespace {

constexpr auto kWrong = CUSOLVER_STATUS_INVALID_VALUE;

template <class T>
cusolverStatus_t create(T** out) {
  if (!out) return kWrong;
  *out = new T;
  return kSuccess;
}
template <class T>
cusolverStatus_t destroy(T* p) {
  delete p;
  return kSuccess;
}
template <class C, class B, class T>
cusolverStatus_t set(C* h, T B::*member, T value) {
  if (!h) return CUSOLVER_STATUS_NOT_INITIALIZED;
  h->*member = value;
  return kSuccess;
}
template <class C, class B, class T>
cusolverStatus_t get(C* h, T B::*member, T* value) {
  if (!h) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!value) return kWrong;
  *value = h->*member;
  return kSuccess;
}

#ifdef US_OLDER_LIBRARY
constexpr int kNumbers[] = {11, 7, 5};  // CUDA 12.9
#else
constexpr int kNumbers[] = {CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH};
#endif

}  // namespace

US_API cusolverStatus_t cusolverGetVersion(int* version) {
  if (!version) return kWrong;
  *version = kNumbers[0] * 1000 + kNumbers[1] * 100 + kNumbers[2];
  return kSuccess;
}
US_API cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
  if (!value || (type != MAJOR_VERSION && type != MINOR_VERSION && type != PATCH_LEVEL)) return kWrong;
  *value = kNumbers[type == MAJOR_VERSION ? 0 : type == MINOR_VERSION ? 1 : 2];
  return kSuccess;
}

US_DN(Create)(cusolverDnHandle_t* out) {
  if (!out) return kWrong;
  return cudaFree(nullptr) == cudaSuccess ? create(out) : CUSOLVER_STATUS_NOT_INITIALIZED;
}
US_DN(Destroy)(cusolverDnHandle_t h) { return h ? destroy(h) : CUSOLVER_STATUS_NOT_INITIALIZED; }
US_DN(SetStream)(cusolverDnHandle_t h, cudaStream_t s) { return set(h, &cusolverDnContext::stream, s); }
US_DN(GetStream)(cusolverDnHandle_t h, cudaStream_t* s) { return get(h, &cusolverDnContext::stream, s); }
US_DN(SetDeterministicMode)(cusolverDnHandle_t h, cusolverDeterministicMode_t m) {
  return set(h, &cusolverDnContext::deterministic, m);
}
US_DN(GetDeterministicMode)(cusolverDnHandle_t h, cusolverDeterministicMode_t* m) {
  return get(h, &cusolverDnContext::deterministic, m);
}

US_DN(CreateParams)(cusolverDnParams_t* out) { return create(out); }
US_DN(DestroyParams)(cusolverDnParams_t p) { return destroy(p); }
US_DN(SetAdvOptions)(cusolverDnParams_t p, cusolverDnFunction_t function, cusolverAlgMode_t algorithm) {
  if (!p || function < CUSOLVERDN_GETRF || function > CUSOLVERDN_SYEVBATCHED) return kWrong;
  p->algorithms[function] = algorithm;
  return kSuccess;
}

#define US_ITERATION(Type, Name, name)                                                        \
  US_DN(Create##Name##Info)(Type * out) { return create(out); }                               \
  US_DN(Destroy##Name##Info)(Type p) { return destroy(p); }                                   \
  US_DN(X##name##SetTolerance)(Type p, double x) { return set(p, &syevjInfo::tolerance, x); } \
  US_DN(X##name##SetMaxSweeps)(Type p, int n) { return set(p, &syevjInfo::sweeps, n); }       \
  US_DN(X##name##SetSortEig)(Type p, int sort) { return set(p, &syevjInfo::sort, sort); }     \
  US_DN(X##name##GetResidual)(cusolverDnHandle_t h, Type p, double* to) {                     \
    if (!h) return CUSOLVER_STATUS_NOT_INITIALIZED;                                           \
    if (!p || !to) return kWrong;                                                             \
    *to = 0;                                                                                  \
    return kSuccess;                                                                          \
  }                                                                                           \
  US_DN(X##name##GetSweeps)(cusolverDnHandle_t h, Type p, int* to) {                          \
    if (!h) return CUSOLVER_STATUS_NOT_INITIALIZED;                                           \
    if (!p || !to) return kWrong;                                                             \
    *to = 0;                                                                                  \
    return kSuccess;                                                                          \
  }
US_ITERATION(syevjInfo_t, Syevj, syevj)
US_ITERATION(gesvdjInfo_t, Gesvdj, gesvdj)

// Nothing is logged.
US_DN(LoggerSetCallback)(cusolverDnLoggerCallback_t) { return kSuccess; }
US_DN(LoggerSetFile)(FILE*) { return kSuccess; }
US_DN(LoggerOpenFile)(const char*) { return kSuccess; }
US_DN(LoggerSetLevel)(int) { return kSuccess; }
US_DN(LoggerSetMask)(int) { return kSuccess; }
US_DN(LoggerForceDisable)() { return kSuccess; }
