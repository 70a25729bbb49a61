// SPDX-License-Identifier: Apache-2.0
// libnvJitLink.so.13 and .12: links what carries PTX; LTO-IR goes through the stock library, to PTX.
#include <cstring>

#include "cuda/api.h"
#include "cuda/libnvjitlink/job.h"

using namespace us;
using namespace us::nvjitlink;

namespace {

// A text and how long it is, with its end; of an empty one there is nothing.
Code put_size(const std::string& s, size_t* out) {
  if (!out) return NullInput;
  *out = s.empty() ? 0 : s.size() + 1;
  return Success;
}
Code put_text(const std::string& s, char* out) {
  if (!out) return NullInput;
  if (!s.empty()) std::memcpy(out, s.c_str(), s.size() + 1);
  return Success;
}

// What was linked: for a cubin the bytes alone.
template <class T>
Code put_result(const std::string* r, T* out, Code otherwise) {
  if (!out) return NullInput;
  if (!r) return otherwise;
  if constexpr (std::is_same_v<T, size_t>)
    *out = r->size();
  else
    std::memcpy(out, r->data(), r->size());
  return Success;
}

}  // namespace

// Other names of these functions are at the end.
#define US_LINK(name) extern "C" __attribute__((visibility("default"))) Code nvJitLink##name

US_LINK(Create)(Job** out, u32 count, const char* const* given) {
  if (!out) return NullInput;
  *out = nullptr;
  Options options;
  if (const Code e = read_options(count, given, options)) return e;
  *out = new Job(std::move(options));
  return Success;
}

US_LINK(Destroy)(Job** job) {
  if (!job || !*job) return NullInput;
  delete *job;
  *job = nullptr;
  return Success;
}

US_LINK(AddData)(Job* job, Kind kind, const void* data, size_t size, const char* name) {
  return job ? job->add(kind, {static_cast<const u8*>(data), size}, name) : NullInput;
}
US_LINK(AddFile)(Job* job, Kind kind, const char* path) { return job ? job->add_file(kind, path) : NullInput; }
US_LINK(Complete)(Job* job) { return job ? job->complete() : NullInput; }

US_LINK(GetLinkedCubinSize)(Job* job, size_t* out) { return job ? put_result(job->cubin(), out, Internal) : NullInput; }
US_LINK(GetLinkedCubin)(Job* job, char* out) { return job ? put_result(job->cubin(), out, Internal) : NullInput; }

US_LINK(GetLinkedPtxSize)(Job* job, size_t* out) {
  if (!job) return NullInput;
  if (!job->hands_out_ptx()) return InvalidInput;
  return job->ptx() ? put_size(*job->ptx(), out) : Internal;
}
US_LINK(GetLinkedPtx)(Job* job, char* out) {
  if (!job) return NullInput;
  if (!job->hands_out_ptx()) return InvalidInput;
  return job->ptx() ? put_text(*job->ptx(), out) : Internal;
}

// Linked LTO-IR, of releases since 13.1, is not made: -ltoir is no option.
US_LINK(GetLinkedLTOIRSize)(Job* job, size_t*) { return job ? InvalidInput : NullInput; }
US_LINK(GetLinkedLTOIR)(Job* job, void*) { return job ? InvalidInput : NullInput; }

US_LINK(GetErrorLogSize)(Job* job, size_t* out) { return job ? put_size(job->error_log(), out) : NullInput; }
US_LINK(GetErrorLog)(Job* job, char* out) { return job ? put_text(job->error_log(), out) : NullInput; }
US_LINK(GetInfoLogSize)(Job* job, size_t* out) { return job ? put_size(job->info_log(), out) : NullInput; }
US_LINK(GetInfoLog)(Job* job, char* out) { return job ? put_text(job->info_log(), out) : NullInput; }

// LTO-IR of a newer compiler than the stock library is refused by it, so its version counts.
US_LINK(Version)(unsigned* major, unsigned* minor) {
  if (!major || !minor) return NullInput;
  if (stock_version(*major, *minor)) return Success;
  *major = US_NVJITLINK_MAJOR[1] == '2' ? 12 : 13;
  *minor = US_NVJITLINK_MAJOR[1] == '2' ? 9 : 0;
  return Success;
}

#define US_ALIAS(name, minor)                                      \
  asm(".globl __nvJitLink" #name "_" US_NVJITLINK_MAJOR "_" #minor \
      "\n"                                                         \
      ".set __nvJitLink" #name "_" US_NVJITLINK_MAJOR "_" #minor ", nvJitLink" #name);
#define US_LINK_VERSION(minor)        \
  US_ALIAS(Create, minor)             \
  US_ALIAS(Destroy, minor)            \
  US_ALIAS(AddData, minor)            \
  US_ALIAS(AddFile, minor)            \
  US_ALIAS(Complete, minor)           \
  US_ALIAS(GetLinkedCubinSize, minor) \
  US_ALIAS(GetLinkedCubin, minor)     \
  US_ALIAS(GetLinkedPtxSize, minor)   \
  US_ALIAS(GetLinkedPtx, minor)       \
  US_ALIAS(GetLinkedLTOIRSize, minor) \
  US_ALIAS(GetLinkedLTOIR, minor)     \
  US_ALIAS(GetErrorLogSize, minor)    \
  US_ALIAS(GetErrorLog, minor)        \
  US_ALIAS(GetInfoLogSize, minor)     \
  US_ALIAS(GetInfoLog, minor)
#include "cuda/libnvjitlink/versions.inc"
