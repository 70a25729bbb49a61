// SPDX-License-Identifier: Apache-2.0
#include "loader/libraries.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/stock.h"

namespace us::loader {
namespace {

struct Library {
  const char* stem;
  const char* version;
  bool stock;
  enum { Unknown, Missing, There } state = Unknown;
  char path[PATH_MAX] = {};
};
Library libraries[] = {
#define US_LIBRARY(stem, version, stock) {stem, version, stock},
#include "loader/libraries.inc"
#undef US_LIBRARY
};

struct LastResort {
  const char* name;
  const char* ours;
  char path[PATH_MAX] = {};
};
LastResort last_resorts[] = {
#define US_LIBRARY(stem, version, stock)
#define US_LAST_RESORT(name, ours) {name, ours},
#include "loader/libraries.inc"
#undef US_LAST_RESORT
#undef US_LIBRARY
};

char directory[PATH_MAX];

const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// "libcudart.so", "libcudart.so.12" and "libcudart.so.12.9.79" for stem libcudart.so and version 12. A driver's file
// is called after its release: libcuda.so.580.65.
bool named(const char* name, const Library& l) {
  const size_t stem = strlen(l.stem);
  if (strncmp(name, l.stem, stem) != 0) return false;
  const char* rest = name + stem;
  if (*rest == 0) return true;
  if (*rest++ != '.') return false;
  const size_t n = strlen(l.version);
  if (strncmp(rest, l.version, n) == 0 && (rest[n] == 0 || rest[n] == '.')) return true;
  const bool driver = strcmp(l.stem, "libcuda.so") == 0 || strcmp(l.stem, "libnvidia-ml.so") == 0;
  return driver && *rest >= '0' && *rest <= '9';
}

bool is_there(Library& l) {
  if (l.state == Library::Unknown) {
    strcpy(l.path, directory);
    strcat(strcat(strcat(strcat(l.path, "/"), l.stem), "."), l.version);
    l.state = access(l.path, R_OK) == 0 ? Library::There : Library::Missing;
  }
  return l.state == Library::There;
}

Library* find(const char* name) {
  const char* file = file_name(name);
  if (strncmp(file, "lib", 3) != 0) return nullptr;
  for (Library& l : libraries)
    if (named(file, l)) return is_there(l) ? &l : nullptr;
  return nullptr;
}

}  // namespace

bool find_own_directory() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&find_own_directory), &info) || !realpath(info.dli_fname, directory))
    return false;
  char* slash = strrchr(directory, '/');
  if (!slash || slash - directory > PATH_MAX - 64) return directory[0] = 0, false;
  *slash = 0;
  return true;
}

const char* own_directory() { return directory; }

bool is_own(const char* path) {
  const size_t n = strlen(directory);
  return n > 0 && strncmp(path, directory, n) == 0 && path[n] == '/';
}

const char* choose_library(const char* name, const link_map* from) {
  const bool ours = from && is_own(from->l_name);
  if (ours && is_request_for_stock(name)) return stock_path(name);
  if (directory[0] == 0 || (ours && strchr(name, '/'))) return name;  // ours names what it means
  Library* l = find(name);
  if (!l) return name;
  if (l->stock && !ours) remember_stock(l->path + strlen(directory) + 1, name, from);
  return l->path;
}

const char* choose_last_resort(const char* path) {
  if (directory[0] == 0 || !strchr(path, '/')) return path;
  for (LastResort& l : last_resorts) {
    if (strcmp(file_name(path), l.name) != 0 || access(path, R_OK) == 0) continue;
    strcat(strcat(strcpy(l.path, directory), "/"), l.ours);
    return access(l.path, R_OK) == 0 ? l.path : path;
  }
  return path;
}

}  // namespace us::loader
