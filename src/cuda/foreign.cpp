// SPDX-License-Identifier: Apache-2.0
#include "cuda/foreign.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "cuda/process/fidelity.h"

namespace us::cuda {
namespace {

std::string file_of(const void* code) {
  Dl_info info = {};
  if (!::dladdr(code, &info) || !info.dli_fname) return "code outside all files";
  std::error_code error;
  const auto whole = std::filesystem::canonical(info.dli_fname, error);
  return error ? info.dli_fname : whole.string();
}

constexpr std::string_view kToolkit[] = {"libcublas",   "libcufft", "libcurand", "libcusparse",
                                         "libcusolver", "libcudnn", "libcudss",  "libcutensor",
                                         "libcupti",    "libnccl",  "libnpp",    "libnvjpeg"};

std::string explain(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  if (name.starts_with("libcudart"))
    return file +
           " is the CUDA toolkit's runtime, which needs the vendor's driver; its calls fail. Understudy has "
           "libcudart.so.12 and libcudart.so.13 of its own: start the program with `understudy run`";
  if (name.starts_with("libcufft.so"))
    return file +
           " is the CUDA toolkit's, which needs the vendor's driver; its calls fail. Understudy has one of its own: "
           "start "
           "the program with `understudy run`, and see that the build found FFTW (`understudy info`)";
  if (name.starts_with("libcublas.so"))
    return file +
           " is the CUDA toolkit's, which needs the vendor's driver; its calls fail. Understudy has one of its own: "
           "start the program with `understudy run`, and see that the build found a BLAS (`understudy doctor`)";
  if (std::any_of(std::begin(kToolkit), std::end(kToolkit), [&](std::string_view t) { return name.starts_with(t); }))
    return file +
           " is a library of the CUDA toolkit, which needs the vendor's driver; its calls fail. Use code that comes as "
           "PTX in its place (docs/faq.md)";
  return file +
         " contains a CUDA runtime of its own (libcudart_static), which needs the vendor's driver; its calls fail. "
         "Understudy takes its place if the file kept its symbol table, is of CUDA 12 or 13, and the program is "
         "started "
         "with `understudy run`: do not strip the file, or link it with the shared runtime (nvcc -cudart shared), or "
         "name "
         "the libcudart_static.a that it was linked from (--static-runtime FILE; Python package nvidia-cuda-runtime, "
         "of "
         "the same version)";
}

// Compilers and linkers of the toolkit ask for the driver and do their work without an answer.
bool does_without(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  return name.starts_with("libnvrtc.so") || name.starts_with("libnvJitLink.so");
}

bool first_time(const std::string& key) {
  static std::mutex m;                                   // guards known
  static auto* const known = new std::set<std::string>;  // libraries call while the process ends, too
  const std::lock_guard l(m);
  return known->insert(key).second;
}

}  // namespace

void note_foreign_caller(const void* return_address) {
  const std::string file = file_of(return_address);
  if (does_without(file) || !first_time(file)) return;
  fidelity().shortfall(Shortfall::Refused, "the CUDA runtime in " + file);
  fmt::print(stderr, "understudy: {}\n", explain(file));
}

void note_private_table(const void* return_address) {
  const std::string file = file_of(return_address), what = "private functions of the CUDA runtime for " + file;
  if (!first_time(what)) return;
  fidelity().shortfall(Shortfall::Refused, what);
  fmt::print(
      stderr,
      "understudy: {} asks for private functions of the vendor's CUDA runtime, which are not here: calls that "
      "need them fail, with a status that the program may not look at. Use code that comes as PTX in their place "
      "(docs/faq.md)\n",
      file);
}

}  // namespace us::cuda
