# SPDX-License-Identifier: Apache-2.0
"""Three tests of a device, one of which is wrong: for test_pytest_plugin.py."""
import ctypes
import struct

import pytest

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry inside(.param .u64 p) {
  .reg .u64 %a;
  .reg .u32 %t;
  ld.param.u64 %a, [p];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %a, %t, 4, %a;
  st.global.u32 [%a], %t;
  ret;
}
.visible .entry race(.param .u64 p) {
  .reg .u64 %a;
  .reg .u32 %t;
  ld.param.u64 %a, [p];
  mov.u32 %t, %tid.x;
  st.global.u32 [%a], %t;
  ret;
}
"""


class Device:
    def __init__(self):
        self.cu = ctypes.CDLL("libcuda.so.1")
        device, context, self.module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuModuleLoadData", ctypes.byref(self.module), PTX.encode())
        self.memory = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(self.memory), ctypes.c_size_t(4 * 64))

    def call(self, name, *arguments):
        code = getattr(self.cu, name)(*arguments)
        assert code == 0, f"{name}: {code}"

    def launch(self, name):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), self.module, name.encode())
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(self.memory))
        self.call("cuLaunchKernel", function, 1, 1, 1, 64, 1, 1, 0, None, arguments, None)

    def words(self):
        self.call("cuCtxSynchronize")
        host = (ctypes.c_uint32 * 64)()
        self.call("cuMemcpyDtoH_v2", host, self.memory, ctypes.c_size_t(4 * 64))
        return list(host)


@pytest.fixture(scope="module")
def device():
    return Device()


def test_clean(device):
    device.launch("inside")
    assert device.words() == list(range(64))


def test_race(device):
    device.launch("race")


def test_clean_again(device):
    device.launch("inside")
    assert device.words() == list(range(64))
