// SPDX-License-Identifier: Apache-2.0
// Stand-in for libnvrtc.so.13 and .12: the stock library compiles, but always to PTX. A program that asks for the code
// of a real architecture (sm_90) gets PTX where it expects a CUBIN; cuModuleLoadData takes either.
#include <nvrtc.h>

#include <cstring>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "cuda/api.h"
#include "cuda/libnvrtc/lines.h"
#include "cuda/libnvrtc/stock.h"

namespace {

// Programs that were compiled for a real architecture: for them a CUBIN is expected.
struct Asked {
  std::mutex m;  // guards real
  std::unordered_set<nvrtcProgram> real;
};
Asked& asked() {
  static Asked* const a = new Asked;
  return *a;
}

template <class... A>
nvrtcResult call(const char* name, A... arguments) {
  auto* f = reinterpret_cast<nvrtcResult (*)(A...)>(us::nvrtc::stock_function(name));
  return f ? f(arguments...) : NVRTC_ERROR_INTERNAL_ERROR;
}

// Where the value of an architecture option starts: in this option, or the whole of the next one.
const char* value_of_architecture(const char* option, bool& in_next) {
  in_next = false;
  for (const char* name : {"--gpu-architecture", "-arch", "--arch"}) {
    const std::size_t n = std::strlen(name);
    if (std::strncmp(option, name, n) != 0) continue;
    if (option[n] == '=') return option + n + 1;
    if (option[n] == 0) in_next = true;
  }
  return nullptr;
}

// "sm_90a" → "compute_90a"; others stay.
bool to_virtual(const char* value, std::string& out) {
  constexpr const char* kReal = "sm_";
  if (std::strncmp(value, kReal, 3) != 0) return false;
  out = std::string("compute_") + (value + 3);
  return true;
}

struct Options {
  std::vector<std::string> text;
  bool real = false, has_lines = false;
  Options(int count, const char* const* given) {
    bool is_value = false;
    for (int i = 0; i < count; ++i) {
      std::string option = given[i], virtual_name;
      const char* value = is_value ? given[i] : value_of_architecture(given[i], is_value);
      const std::size_t start = value ? static_cast<std::size_t>(value - given[i]) : 0;
      if (value && to_virtual(value, virtual_name)) {
        option.replace(start, std::string::npos, virtual_name);
        real = true;
      }
      if (value == given[i]) is_value = false;
      has_lines |= option == "-lineinfo" || option == "--generate-line-info" || option == "-G" ||
                   option == "--device-debug" || option == "-dlto" || option == "--dlink-time-opt";
      text.push_back(std::move(option));
    }
    if (!has_lines && us::nvrtc::wants_lines()) text.emplace_back("-lineinfo");
  }
};

bool expects_cubin(nvrtcProgram p) {
  std::lock_guard l(asked().m);
  return asked().real.contains(p);
}

}  // namespace

US_API const char* nvrtcGetErrorString(nvrtcResult code) {
  switch (code) {
#define US_NAME(name) \
  case name:          \
    return #name;
    US_NAME(NVRTC_SUCCESS)
    US_NAME(NVRTC_ERROR_OUT_OF_MEMORY)
    US_NAME(NVRTC_ERROR_PROGRAM_CREATION_FAILURE)
    US_NAME(NVRTC_ERROR_INVALID_INPUT)
    US_NAME(NVRTC_ERROR_INVALID_PROGRAM)
    US_NAME(NVRTC_ERROR_INVALID_OPTION)
    US_NAME(NVRTC_ERROR_COMPILATION)
    US_NAME(NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
    US_NAME(NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION)
    US_NAME(NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION)
    US_NAME(NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
    US_NAME(NVRTC_ERROR_INTERNAL_ERROR)
    US_NAME(NVRTC_ERROR_TIME_FILE_WRITE_FAILED)
    US_NAME(NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED)
    US_NAME(NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED)
    US_NAME(NVRTC_ERROR_PCH_CREATE)
    US_NAME(NVRTC_ERROR_CANCELLED)
    US_NAME(NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED)
#undef US_NAME
  }
  return "NVRTC_ERROR unknown";
}

US_API nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int count, const char* const* given) {
  if (count < 0 || (count > 0 && !given)) return NVRTC_ERROR_INVALID_INPUT;
  const Options options(count, given);
  std::vector<const char*> list;
  for (const std::string& o : options.text) list.push_back(o.c_str());
  const nvrtcResult code =
      call<nvrtcProgram, int, const char* const*>("nvrtcCompileProgram", p, static_cast<int>(list.size()), list.data());
  std::lock_guard l(asked().m);
  if (options.real && code == NVRTC_SUCCESS)
    asked().real.insert(p);
  else
    asked().real.erase(p);
  return code;
}

US_API nvrtcResult nvrtcDestroyProgram(nvrtcProgram* p) {
  if (p) {
    std::lock_guard l(asked().m);
    asked().real.erase(*p);
  }
  return call("nvrtcDestroyProgram", p);
}

US_API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t* size) {
  return call(expects_cubin(p) ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize", p, size);
}
US_API nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char* out) {
  return call(expects_cubin(p) ? "nvrtcGetPTX" : "nvrtcGetCUBIN", p, out);
}

// The rest is the stock library's.
US_API nvrtcResult nvrtcVersion(int* major, int* minor) { return call("nvrtcVersion", major, minor); }
US_API nvrtcResult nvrtcGetNumSupportedArchs(int* n) { return call("nvrtcGetNumSupportedArchs", n); }
US_API nvrtcResult nvrtcGetSupportedArchs(int* list) { return call("nvrtcGetSupportedArchs", list); }
US_API nvrtcResult nvrtcCreateProgram(nvrtcProgram* out, const char* source, const char* name, int count,
                                      const char* const* headers, const char* const* names) {
  if (!source || !us::nvrtc::wants_lines()) return call("nvrtcCreateProgram", out, source, name, count, headers, names);
  const std::string text = us::nvrtc::with_lines(source, name && *name ? name : "default_program");
  return call("nvrtcCreateProgram", out, text.c_str(), name, count, headers, names);
}
US_API nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t* size) { return call("nvrtcGetPTXSize", p, size); }
US_API nvrtcResult nvrtcGetPTX(nvrtcProgram p, char* out) { return call("nvrtcGetPTX", p, out); }
US_API nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram p, size_t* size) { return call("nvrtcGetLTOIRSize", p, size); }
US_API nvrtcResult nvrtcGetLTOIR(nvrtcProgram p, char* out) { return call("nvrtcGetLTOIR", p, out); }
US_API nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram p, size_t* size) { return call("nvrtcGetOptiXIRSize", p, size); }
US_API nvrtcResult nvrtcGetOptiXIR(nvrtcProgram p, char* out) { return call("nvrtcGetOptiXIR", p, out); }
US_API nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t* n) { return call("nvrtcGetProgramLogSize", p, n); }
US_API nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char* out) { return call("nvrtcGetProgramLog", p, out); }
US_API nvrtcResult nvrtcAddNameExpression(nvrtcProgram p, const char* const e) {
  return call("nvrtcAddNameExpression", p, e);
}
US_API nvrtcResult nvrtcGetLoweredName(nvrtcProgram p, const char* const e, const char** out) {
  return call("nvrtcGetLoweredName", p, e, out);
}
US_API nvrtcResult nvrtcGetPCHHeapSize(size_t* n) { return call("nvrtcGetPCHHeapSize", n); }
US_API nvrtcResult nvrtcSetPCHHeapSize(size_t n) { return call("nvrtcSetPCHHeapSize", n); }
US_API nvrtcResult nvrtcGetPCHCreateStatus(nvrtcProgram p) { return call("nvrtcGetPCHCreateStatus", p); }
US_API nvrtcResult nvrtcGetPCHHeapSizeRequired(nvrtcProgram p, size_t* n) {
  return call("nvrtcGetPCHHeapSizeRequired", p, n);
}
US_API nvrtcResult nvrtcSetFlowCallback(nvrtcProgram p, int (*f)(void*, void*), void* data) {
  return call("nvrtcSetFlowCallback", p, f, data);
}
