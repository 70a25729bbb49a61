#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the build needs and is missing. Debian 12; harmless and fast when nothing is missing.
#   scripts/install_deps.sh [--bench] [--no-cuda] [--list]
#     --bench    also what bench/run compares with (PoCL and the OpenCL headers)
#     --no-cuda  do not look for nvcc
#     --list     print the Debian packages and stop
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages=(
  g++ cmake ninja-build git python3 ccache clang-format-14
  llvm-19-dev                                       # ORC JIT; brings the libraries and headers it needs itself
  zlib1g-dev libzstd-dev liblz4-dev                 # fat binaries, and LLVM's own CMake files ask for the first two
  libboost-context-dev libfmt-dev libcli11-dev nlohmann-json3-dev libhwloc-dev
  libfftw3-dev                                      # libcufft.so.12
  libblas-dev liblapack-dev                         # libcublas.so.13, libcublasLt.so.13, libcusolver.so.12
  libgtest-dev libbenchmark-dev
  python3-pytest python3-venv                       # tests of the pytest plugin and of the wheel
)
bench_packages=(pocl-opencl-icd ocl-icd-opencl-dev opencl-headers)

want_cuda=1
for arg in "$@"; do
  case $arg in
    --bench) packages+=("${bench_packages[@]}") ;;
    --no-cuda) want_cuda=0 ;;
    --list) printf '%s\n' "${packages[@]}"; exit 0 ;;
    *) die "unknown option $arg" "see the head of scripts/install_deps.sh" ;;
  esac
done

# Prints those of the given packages that are not installed.
missing_of() {
  local have
  have=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' || true)
  comm -23 <(printf '%s\n' "$@" | sort -u) <(printf '%s\n' "$have" | sort -u)
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@" 2>/dev/null || sudo "$@"; fi
}

install_packages() {
  local missing command
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this is no Debian system, so the dependencies cannot be installed for you" "Debian names of what the build needs: $*"
    return 1
  fi
  mapfile -t missing < <(missing_of "$@")
  if [ "${#missing[@]}" = 0 ]; then return 0; fi
  command="apt-get install --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    fail "packages are missing, and this is neither root nor is there sudo" "run as root: $command"
    return 1
  fi
  say "installing ${missing[*]}"
  local log=$US_ROOT/build/logs/apt.log
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300)
  mkdir -p "$(dirname "$log")"
  as_root "${apt[@]}" update >"$log" 2>&1 || true  # a stale or unreachable extra source need not matter
  if ! as_root "${apt[@]}" install --no-install-recommends "${missing[@]}" >>"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    fail "apt-get could not install the packages (whole log: $log)" "run it yourself: $command" \
      "Debian 12 (bookworm) has all of them; llvm-19-dev is in its main archive since 12.9."
    return 1
  fi
}

# The compiler as its vendor publishes it on the Python package index, unpacked into build/cuda. About 100 MB.
unpack_nvcc() {
  local wheels=(nvidia-cuda-nvcc nvidia-cuda-crt nvidia-cuda-runtime nvidia-nvvm nvidia-cuda-cccl) dir=$US_ROOT/build/cuda
  rm -rf "$dir" && mkdir -p "$dir" && python3 -m venv "$dir/venv" &&
    "$dir/venv/bin/pip" install -q --no-deps --target "$dir" "${wheels[@]/%/==13.0.*}" && rm -rf "$dir/venv" &&
    chmod +x "$US_CUDA_DIR"/bin/* "$US_CUDA_DIR"/nvvm/bin/* && ln -sfn lib "$US_CUDA_DIR/lib64" &&
    ln -sfn libcudart.so.13 "$US_CUDA_DIR/lib/libcudart.so"
}
install_nvcc() {
  say "no nvcc of CUDA 13 found: getting it from the Python package index into build/cuda"
  mkdir -p "$US_ROOT/build/logs"
  local log=$US_ROOT/build/logs/nvcc_install.log rc=0
  unpack_nvcc >"$log" 2>&1 || rc=$?
  if [ "$rc" != 0 ]; then tail -n 10 "$log" >&2; fi
  return "$rc"
}

install_packages "${packages[@]}"
if [ "$want_cuda" = 1 ] && ! find_nvcc >/dev/null; then
  if ! install_nvcc || ! find_nvcc >/dev/null; then
    die "nvcc of CUDA 13 is missing and could not be installed" \
      "Install the CUDA toolkit 13.x from its vendor (no GPU and no driver needed) and put nvcc on PATH" \
      "or set CUDA_HOME; or, to build without it: scripts/install_deps.sh --no-cuda"
  fi
fi
