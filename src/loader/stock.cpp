// SPDX-License-Identifier: Apache-2.0
#include "loader/stock.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/libraries.h"

namespace us::loader {
namespace {

struct Place {
  char library[64];
  char path[PATH_MAX];
};
Place places[12];  // one for each row with `stock`, and room
unsigned known = 0;

Place* find(const char* library) {
  for (unsigned i = 0; i < known; ++i)
    if (strcmp(places[i].library, library) == 0) return &places[i];
  return nullptr;
}

bool add(const char* library, const char* path) {
  char whole[PATH_MAX];
  if (known == sizeof places / sizeof *places || strlen(library) >= sizeof places->library) return false;
  if (!realpath(path, whole) || is_own(whole)) return false;
  strcpy(places[known].library, library);
  strcpy(places[known].path, path[0] == '/' ? path : whole);
  ++known;
  return true;
}

// The run paths of a loaded object, as its dynamic section has them. The loader has not made addresses of its entries
// yet while the object is new: a small value is an offset.
const char* dynamic_text(const link_map* of, ElfW(Sxword) tag) {
  const ElfW(Dyn)* text = nullptr;
  const ElfW(Dyn)* found = nullptr;
  for (const ElfW(Dyn)* d = of->l_ld; d && d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_STRTAB) text = d;
    if (d->d_tag == tag) found = d;
  }
  if (!text || !found) return nullptr;
  const ElfW(Addr) at = text->d_un.d_ptr < of->l_addr ? of->l_addr + text->d_un.d_ptr : text->d_un.d_ptr;
  return reinterpret_cast<const char*>(at) + found->d_un.d_val;
}

// One directory of a run path, $ORIGIN replaced, and the file name.
bool expand(const char* start, size_t n, const char* origin, const char* name, char* out) {
  size_t used = 0;
  const auto put = [&](const char* text, size_t bytes) {
    if (used + bytes >= PATH_MAX) return false;
    memcpy(out + used, text, bytes);
    used += bytes;
    return true;
  };
  for (size_t i = 0; i < n;) {
    const size_t token = strncmp(start + i, "$ORIGIN", 7) == 0 ? 7 : strncmp(start + i, "${ORIGIN}", 9) == 0 ? 9 : 0;
    if (token ? !put(origin, strlen(origin)) : !put(start + i, 1)) return false;
    i += token ? token : 1;
  }
  return used > 0 && put("/", 1) && put(name, strlen(name) + 1);
}

void directory_of(const link_map* object, char* out) {
  const char* path = object->l_name[0] ? object->l_name : "/proc/self/exe";
  if (!realpath(path, out)) strcpy(out, ".");
  if (char* slash = strrchr(out, '/')) *slash = 0;
}

void search(const char* library, const char* name, const link_map* from, const char* list) {
  char origin[PATH_MAX], path[PATH_MAX];
  directory_of(from, origin);
  while (list) {
    const char* end = strchr(list, ':');
    const size_t n = end ? static_cast<size_t>(end - list) : strlen(list);
    if (expand(list, n, origin, name, path) && access(path, R_OK) == 0 && add(library, path)) return;
    list = end ? end + 1 : nullptr;
  }
}

}  // namespace

bool is_request_for_stock(const char* name) { return strncmp(name, kStockPrefix, sizeof kStockPrefix - 1) == 0; }

const char* stock_path(const char* request) {
  const Place* p = find(request + sizeof kStockPrefix - 1);
  return p ? p->path : request;
}

void remember_stock(const char* library, const char* name, const link_map* from) {
  if (find(library)) return;
  if (strchr(name, '/')) {
    add(library, name);
  } else if (from) {
    search(library, name, from, dynamic_text(from, DT_RPATH));
    if (!find(library)) search(library, name, from, dynamic_text(from, DT_RUNPATH));
  }
}

}  // namespace us::loader
