# SPDX-License-Identifier: Apache-2.0
"""Programs of many twins: most of a twin's build is reading headers, so those of a family share a source file.

Each twin is included in a namespace of its own, and a bundle runs the twin by whose name it is called. The twins are
links to it, so all else sees a program for each. A twin with flags or needs of its own is built alone.
"""
import os
import re
import subprocess

import twins

MOST = 24  # twins of a bundle
INCLUDE = re.compile(r"^#include <[^>]+>$", re.M)
MACRO = re.compile(r"^#define (\w+)", re.M)
HEADERS = [twins.ROOT / name for name in ("twin.h", "tensor.h", "wgmma.h")]
START = """
struct Member {
  const char* name;
  int (*run)();
};
int main(int, char** argv) {
  const char* slash = strrchr(argv[0], '/');
  const char* name = slash ? slash + 1 : argv[0];
  for (const Member& m : kMembers)
    if (!strcmp(m.name, name)) return m.run();
  fprintf(stderr, "%s: expected the name of a twin of this bundle\\n", name);
  return 3;
}
"""


def of_family(family):
    """Its bundles: lists of twins."""
    fit = [t for t in twins.all_twins() if t.family == family and not {"flags", "needs"} & t.notes.keys()]
    return [fit[k:k + MOST] for k in range(0, len(fit), MOST)]


def source(members):
    """The text of a bundle's source file."""
    texts = [twin.path.read_text() for twin in members]
    lines = sorted({line for text in texts for line in INCLUDE.findall(text)} | {"#include <cstring>"})
    lines += [f'#include "{h}"' for h in HEADERS if any(f'"../{h.name}"' in text for text in texts)]
    for k, (twin, text) in enumerate(zip(members, texts)):
        lines += [f"namespace twin_{k} {{", "#define main run", f'#include "{twin.path}"', "#undef main"]
        lines += [f"#undef {name}" for name in MACRO.findall(text)] + ["}"]
    struct, rest = START.strip().split("};\n", 1)
    rows = [f'    {{"{twin.name}", twin_{k}::run}},' for k, twin in enumerate(members)]
    return "\n".join([*lines, struct + "};", "const Member kMembers[] = {", *rows, "};", rest])


def build(members, name, nvcc, folder):
    """Builds a bundle if it is older than what it is made of, and links its twins to it. Not if they do not compile:
    then each is built alone, and says why."""
    text, file, program = source(members), folder / f"{name}.cu", folder / name
    made_of = [*(t.path for t in members), *twins.ROOT.glob("*.h")]
    fresh = program.exists() and program.stat().st_mtime > max(s.stat().st_mtime for s in made_of)
    if not (fresh and file.exists() and file.read_text() == text):
        file.write_text(text)
        program.unlink(missing_ok=True)
        done = subprocess.run([nvcc, *twins.FLAGS, str(file), "-o", str(program)], capture_output=True, text=True)
        if done.returncode:
            print(f"{name} does not compile as a whole:\n{done.stderr}")
            return
    for twin in members:
        link = folder / twin.name
        if link.exists() and link.samefile(program):
            continue
        fresh_link = folder / f"{twin.name}.new"
        fresh_link.unlink(missing_ok=True)
        os.link(program, fresh_link)
        fresh_link.replace(link)


def build_family(family, nvcc, folder, pool):
    list(pool.map(lambda b: build(b[1], f"bundle_{family}_{b[0]}", nvcc, folder), enumerate(of_family(family))))
