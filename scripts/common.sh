# SPDX-License-Identifier: Apache-2.0
# Shell functions shared by quickstart, check and scripts/. Source it; it changes nothing.
US_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'; else bold='' red='' green='' plain=''; fi
say() { printf '%s\n' "${bold}==> $*${plain}"; }
fail() { printf '%s\n' "${red}error:${plain} $1" >&2; shift; for line in "$@"; do printf '       %s\n' "$line" >&2; done; }
die() { fail "$@"; exit 1; }

# Where the fallback compiler of install_deps.sh goes.
US_CUDA_DIR=$US_ROOT/build/cuda/nvidia/cu13

# Prints the full path of an nvcc of CUDA 13, or fails. (The programs must ask for libcudart.so.13.)
find_nvcc() {
  local candidate
  for candidate in "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc /usr/local/cuda-13*/bin/nvcc \
    "$US_CUDA_DIR/bin/nvcc"; do
    if [ -n "$candidate" ] && [ -x "$candidate" ] && "$candidate" --version 2>/dev/null | grep -q 'release 13\.'; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

# Runs a command with its output in a file, and on a terminal also there; shows the end of the file when it fails.
logged() {
  local log=$1 rc=0
  shift
  mkdir -p "$(dirname "$log")"
  if [ -t 1 ]; then
    "$@" 2>&1 | tee "$log" || rc=${PIPESTATUS[0]}
  else
    "$@" >"$log" 2>&1 || rc=$?
    if [ "$rc" != 0 ]; then
      tail -n 60 "$log" >&2
    fi
  fi
  return "$rc"
}
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }
