#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ptxas, nvlink, fatbinary and nvcc as programs of a run start them. usage: test_standins.py BUILD_DIR"""
import os
import subprocess
import sys
import unittest

from common import CLEAN, LIB, Case, understudy

PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], 7;
  ret;
}
"""
CALLER = PTX.replace(".visible .entry", ".extern .func f;\n.visible .entry").replace("  ret;", "  call f;\n  ret;")
CALLEE = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .func f\n{\n  ret;\n}\n"
# A toolkit's program that tells how it was started.
TOOL = """#!/bin/sh
case "$1" in --version) echo "Cuda compilation tools, release 99.1, V99.1.2"; exit 0;; esac
echo "stock $0 $@"
"""


class StandIns(Case):
    def setUp(self):
        super().setUp()
        for name in ("ptxas", "nvlink", "fatbinary", "nvcc"):
            self.write(f"bin/{name}", TOOL).chmod(0o755)
        self.bin = self.dir / "bin"

    def direct(self, name, *args):
        """The stand-in without a toolkit."""
        os.symlink(LIB / "understudy_standin", self.dir / name)
        result = subprocess.run([self.dir / name, *map(str, args)], capture_output=True, text=True, env=CLEAN, timeout=60)
        os.unlink(self.dir / name)
        return result

    def test_every_way_to_start(self):
        ways = {"execv": ["sh", "-c", f"{self.bin}/ptxas --version"],
                "execvp": ["env", f"PATH={self.bin}:/usr/bin:/bin", "ptxas", "--version"],
                "posix_spawn": ["python3", "-c", f"import os; os.waitpid(os.posix_spawn('{self.bin}/ptxas', ['ptxas', '--version'], os.environ), 0)"],
                "vfork": ["python3", "-c", f"import subprocess; subprocess.run(['{self.bin}/ptxas', '--version'], close_fds=False)"],
                "system": ["python3", "-c", f"import os; os.system('{self.bin}/ptxas --version')"]}
        for way, command in ways.items():
            with self.subTest(way):
                result = understudy(*command)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("release 99.1", result.stdout)
                self.assertIn("Understudy", result.stdout)

    def test_only_in_a_run(self):
        result = subprocess.run([self.bin / "ptxas", "--version"], capture_output=True, text=True, env=CLEAN)
        self.assertNotIn("Understudy", result.stdout)
        result = understudy("env", "UNDERSTUDY_STOCK_TOOLS=1", "sh", "-c", f"{self.bin}/ptxas --version")
        self.assertNotIn("Understudy", result.stdout)

    def test_what_is_not_there_is_not_there(self):
        result = understudy("python3", "-c", f"import os\ntry: os.execv('{self.dir}/ptxas', ['ptxas'])\nexcept OSError as e: print(e.errno)")
        self.expect(result, "2\n")

    def test_ptxas_hands_ptx_on(self):
        source = self.write("a.ptx", PTX)
        self.expect(understudy("sh", "-c", f"{self.bin}/ptxas --gpu-name=sm_90 {source} -o {self.dir}/a.cubin"), "")
        self.assertEqual((self.dir / "a.cubin").read_text(), PTX + "\0")

    def test_ptxas_refuses(self):
        bad = self.write("bad.ptx", PTX.replace("st.global", "stt.global"))
        result = self.direct("ptxas", "-arch=sm_90", bad, "-o", self.dir / "out")
        self.assertEqual(result.returncode, 255)
        self.assertEqual(result.stderr, f"ptxas {bad}, line 8; error   : Not a name of any known instruction: 'stt'\n"
                                        "ptxas fatal   : Ptx assembly aborted due to errors\n")
        self.assertFalse((self.dir / "out").exists())
        good = self.write("good.ptx", PTX)
        result = self.direct("ptxas", "-arch=sm_80", good, "-o", self.dir / "out")
        self.assertEqual((result.returncode, result.stderr),
                         (255, "ptxas fatal   : SM version specified by .target is higher than default SM version assumed\n"))
        result = self.direct("ptxas", "-arch=sm_90", self.dir / "none.ptx")
        self.assertEqual((result.returncode, result.stderr), (255, f"ptxas fatal   : Input file '{self.dir}/none.ptx' could not be opened\n"))

    def test_ptxas_tells_its_newest_version(self):
        """As JAX asks for it: what stands between two quotation marks, and an exit code that is not 0."""
        result = self.direct("ptxas", "--input-as-string", ".version 99.99")
        self.assertEqual(result.returncode, 255)
        self.assertRegex(result.stderr, r"^[^']*'\d\.\d'[^']*$")
        self.write("bin/ptxas", "#!/bin/sh\necho \"current version is '9.0'\" >&2\nexit 255\n")
        result = understudy("sh", "-c", f"{self.bin}/ptxas --input-as-string '.version 99.99'")
        self.assertEqual((result.returncode, result.stderr), (255, "current version is '9.0'\n"))
        newer = self.write("newer.ptx", PTX.replace("8.0", "9.5"))  # than what that toolkit knows
        self.expect(understudy("sh", "-c", f"{self.bin}/ptxas --gpu-name=sm_90 {newer} -o {self.dir}/a.cubin"), "")

    def test_figures_come_from_the_toolkit(self):
        """-v: its words, and its machine code goes beside the PTX."""
        self.write("bin/ptxas", '#!/bin/sh\necho "ptxas info    : Used 24 registers" >&2\nprintf "\\177ELFcode" > "$4"\n')
        source = self.write("a.ptx", PTX)
        result = understudy("sh", "-c", f"{self.bin}/ptxas -v {source} -o {self.dir}/a.cubin --gpu-name=sm_90")
        self.assertEqual((result.returncode, result.stderr), (0, "ptxas info    : Used 24 registers\n"))
        made = (self.dir / "a.cubin").read_bytes()
        self.assertEqual(made[:4], b"\x50\xed\x55\xba")
        self.assertIn(PTX.encode() + b"\0", made)
        self.assertIn(b"\x7fELFcode", made)

    def test_nvlink_links_ptx(self):
        caller, callee = self.write("caller.cubin", CALLER), self.write("callee.cubin", CALLEE)
        result = understudy("sh", "-c", f"{self.bin}/nvlink -arch=sm_90 -o {self.dir}/both {caller} {callee}")
        self.expect(result, "")
        self.assertIn(CALLEE, (self.dir / "both").read_text(errors="replace"))
        result = self.direct("nvlink", "-arch=sm_90", "-o", self.dir / "one", caller)
        self.assertEqual(result.returncode, 255)
        self.assertIn(f"Undefined reference to 'f' in '{caller}'", result.stderr)

    def test_nvlink_passes_the_register_limit_on(self):
        source = self.write("k.cubin", PTX)
        options = ["--library-path", "/usr/lib", "--cpu-arch", "X86_64", "--host-ccbin", "g++", "--library", "m"]
        result = self.direct("nvlink", "-arch=sm_90", *options, "-maxrregcount", "40", "-o", self.dir / "out", source)
        self.expect(result, "")
        self.assertIn("k(.param .u64 out)\n.maxnreg 40\n{", (self.dir / "out").read_text())
        result = self.direct("nvlink", "-arch=sm_90", "-maxrregcount=many", source)
        self.assertEqual((result.returncode, result.stderr), (1, "nvlink fatal   : wrong value of -maxrregcount: 'many'\n"))

    def test_a_directory_is_no_file(self):
        result = self.direct("nvlink", "-arch=sm_90", "-o", self.dir / "out", self.dir)
        self.assertEqual(result.returncode, 255)
        self.assertIn(f"is a directory: {self.dir}", result.stderr)
        result = self.direct("ptxas", "-arch=sm_90", self.dir, "-o", self.dir / "out")
        self.assertEqual((result.returncode, result.stderr), (255, f"ptxas fatal   : Input file '{self.dir}' could not be opened\n"))

    def test_what_only_a_toolkit_can_do(self):
        result = self.direct("nvcc", "a.cu")
        self.assertEqual(result.returncode, 127)
        self.assertIn("needs the CUDA toolkit's own program", result.stderr)

    def test_builds_are_the_toolkits(self):
        self.write("bin/nvcc", f'#!/bin/sh\necho "nvcc $@"\n"{self.bin}/ptxas" --version\n')
        result = understudy("sh", "-c", f"{self.bin}/nvcc -arch=sm_90 a.cu -o a")
        self.expect(result, "nvcc -arch=sm_90 a.cu -o a\nCuda compilation tools, release 99.1, V99.1.2\n")
        result = understudy("sh", "-c", f"{self.bin}/nvlink -arch=sm_90 {self.write('a.o', 'no code of ours')} -o a")
        self.assertIn("stock", result.stdout)

    def test_nvcc_makes_ptx_of_a_cubin(self):
        self.write("bin/nvcc", '#!/bin/sh\necho "nvcc $@"\nfor a; do last=$a; done\necho .version > "$last"\n')
        result = understudy("sh", "-c", f"cd {self.dir} && {self.bin}/nvcc --cubin -arch sm_90a -gencode=arch=compute_80,code=sm_80 a.cu")
        self.expect(result, "nvcc -ptx -arch=compute_90a -gencode=arch=compute_80,code=compute_80 a.cu -o a.cubin\n")
        self.assertEqual((self.dir / "a.cubin").read_text(), ".version\n\0")

    def test_fatbinary_refuses_what_is_no_image(self):
        """PTX with its machine code, as ptxas -v leaves it."""
        both = self.dir / "both.cubin"
        both.write_bytes(bytes.fromhex("50ed55ba") + b"\1\0\x10\0" + bytes(8))
        result = understudy("sh", "-c", f"{self.bin}/fatbinary --create=out --image3=kind=elf,sm=90,file={both}")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn(f"{both} holds linked PTX, or PTX with its machine code", result.stderr)

    def test_fatbinary_takes_ptx_as_ptx(self):
        ptx, elf = self.write("a.cubin", PTX), self.write("b.cubin", "\x7fELF")
        result = understudy("sh", "-c", f"{self.bin}/fatbinary --create=out --image3=kind=elf,sm=90,file={ptx} --image=profile=sm_90,file={elf}")
        self.expect(result, f"stock {self.bin}/fatbinary --create=out --image3=kind=ptx,sm=90,file={ptx} --image=profile=sm_90,file={elf}\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
