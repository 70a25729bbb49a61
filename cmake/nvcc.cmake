# SPDX-License-Identifier: Apache-2.0
# Finds nvcc and builds CUDA programs with it, without CMake's CUDA language (which wants to probe a GPU toolchain).
#   US_NVCC                              full path, or US_NVCC-NOTFOUND
#   CUDA_HEADERS                         the directory of cuda.h that belongs to it
#   us_cuda_program(target source...     an executable linked with the shared CUDA runtime, PTX for compute_90 only;
#                   [FLAGS flag...]      PLAIN: as nvcc makes it, static runtime and all
#                   [ARCH compute_90a] [EXCLUDE_FROM_ALL] [PLAIN])
#   The executable is ${CMAKE_BINARY_DIR}/programs/<target>, also in the target property US_EXECUTABLE.
find_program(US_NVCC nvcc HINTS ENV CUDA_HOME ${CMAKE_SOURCE_DIR}/build/cuda/nvidia/cu13 /usr/local/cuda PATH_SUFFIXES bin)
if(NOT US_NVCC)
  message(STATUS "nvcc not found: CUDA programs and the tests that run them are left out (scripts/install_deps.sh gets it)")
else()
  file(REAL_PATH ${US_NVCC} nvcc_real)
  cmake_path(GET nvcc_real PARENT_PATH nvcc_bin)
  find_path(CUDA_HEADERS cuda.h HINTS ${nvcc_bin}/../include DOC "directory of cuda.h (CUDA 13)")
endif()

function(us_cuda_program target)
  cmake_parse_arguments(ARG "EXCLUDE_FROM_ALL;PLAIN" "ARCH" "FLAGS" ${ARGN})
  if(NOT US_NVCC)
    return()
  endif()
  if(NOT ARG_ARCH)
    set(ARG_ARCH compute_90)
  endif()
  set(how -gencode arch=${ARG_ARCH},code=${ARG_ARCH} -cudart shared -std=c++17 -O2 -lineinfo)
  if(ARG_PLAIN)
    set(how)
  endif()
  set(all ALL)
  if(ARG_EXCLUDE_FROM_ALL)
    set(all)
  endif()
  set(exe ${CMAKE_BINARY_DIR}/programs/${target})
  # The compiler alone brings no libcuda to link with (its toolkit has a stub): ours has the same symbols.
  set(drivers)
  if(ARG_FLAGS MATCHES "-lcuda(;|$)")
    set(drivers us_libcuda)
    list(APPEND ARG_FLAGS -L${CMAKE_BINARY_DIR}/lib)
  endif()
  if(ARG_FLAGS MATCHES "-lcufft(;|$)" AND TARGET us_libcufft)
    list(APPEND drivers us_libcufft)
    list(APPEND ARG_FLAGS -L${CMAKE_BINARY_DIR}/lib)
  endif()
  set(sources)
  foreach(source ${ARG_UNPARSED_ARGUMENTS})
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    list(APPEND sources ${source})
  endforeach()
  add_custom_command(
    OUTPUT ${exe}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/programs
    COMMAND ${US_NVCC} ${how} -ccbin ${CMAKE_CXX_COMPILER} ${ARG_FLAGS} -MD -MF ${exe}.d -o ${exe} ${sources}
    DEPENDS ${sources} ${drivers}
    DEPFILE ${exe}.d
    COMMENT "nvcc ${target}"
    VERBATIM)
  add_custom_target(${target} ${all} DEPENDS ${exe})
  set_target_properties(${target} PROPERTIES US_EXECUTABLE ${exe})
endfunction()
