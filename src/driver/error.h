// SPDX-License-Identifier: Apache-2.0
// Error codes of the driver objects. Numbers are CUDA's: one number means the same in CUresult and cudaError_t, except
// those marked RT, which only the runtime API has (the driver API answers InvalidValue for them).
#pragma once
#include "base/types.h"

namespace us::driver {

enum class Error : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  InvalidConfiguration = 9,       // RT
  InvalidPitchValue = 12,         // RT
  InvalidSymbol = 13,             // RT
  InvalidHostPointer = 16,        // RT
  InvalidDevicePointer = 17,      // RT
  InvalidChannelDescriptor = 20,  // RT
  InvalidMemcpyDirection = 21,    // RT
  InvalidFilterSetting = 26,      // RT
  InvalidNormSetting = 27,        // RT
  MissingConfiguration = 52,      // RT
  InvalidDeviceFunction = 98,     // RT
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,  // cudaErrorNoKernelImageForDevice
  UnsupportedLimit = 215,
  InvalidPtx = 218,
  UnsupportedPtxVersion = 222,
  InvalidSource = 300,
  FileNotFound = 301,
  SharedObjectSymbolNotFound = 302,
  OperatingSystem = 304,
  PeerAccessUnsupported = 217,
  InvalidHandle = 400,
  IllegalState = 401,
  LossyQuery = 402,
  NotFound = 500,  // cudaErrorSymbolNotFound
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  PeerAccessAlreadyEnabled = 704,
  PeerAccessNotEnabled = 705,
  PrimaryContextActive = 708,
  ContextIsDestroyed = 709,
  Assert = 710,
  HostMemoryAlreadyRegistered = 712,
  HostMemoryNotRegistered = 713,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  CooperativeLaunchTooLarge = 720,
  NotPermitted = 800,
  NotSupported = 801,
  StreamCaptureUnsupported = 900,
  StreamCaptureInvalidated = 901,
  StreamCaptureMerge = 902,
  StreamCaptureUnmatched = 903,
  StreamCaptureUnjoined = 904,
  StreamCaptureIsolation = 905,
  StreamCaptureImplicit = 906,
  CapturedEvent = 907,
  StreamCaptureWrongThread = 908,
  GraphExecUpdateFailure = 910,
  InvalidClusterSize = 912,
  InvalidResourceType = 914,
  InvalidResourceConfiguration = 915,
  Unknown = 999,
};

inline constexpr bool failed(Error e) { return e != Error::Success; }

// Returns the error of an expression to the caller, if it is one.
#define US_TRY(expr)                                                                \
  do {                                                                              \
    if (::us::driver::Error us_e = (expr); ::us::driver::failed(us_e)) return us_e; \
  } while (0)

}  // namespace us::driver
