# SPDX-License-Identifier: Apache-2.0
# Tests of CUDA programs on a machine without a GPU. In a project:
#   list(APPEND CMAKE_MODULE_PATH ...)   # this directory; in a wheel understudy/share/cmake
#   include(UnderstudyTest)
#   understudy_add_test(NAME name COMMAND target [arg...] [CHECK] [OPTIONS option...])
# adds the test that `understudy run target arg...` is. CHECK: `understudy check`, so misuse of CUDA fails the test.
# OPTIONS: of understudy, e.g. --device h100. UNDERSTUDY_PROGRAM is the program; it is looked for on PATH.
find_program(UNDERSTUDY_PROGRAM understudy DOC "the program `understudy`, which runs CUDA programs without a GPU")

function(understudy_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "CHECK" "NAME" "COMMAND;OPTIONS")
  if(NOT ARG_NAME OR NOT ARG_COMMAND)
    message(FATAL_ERROR "understudy_add_test: NAME and COMMAND are needed")
  endif()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "understudy_add_test: unknown argument ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT UNDERSTUDY_PROGRAM)
    message(FATAL_ERROR "understudy_add_test: `understudy` is not on PATH; set UNDERSTUDY_PROGRAM")
  endif()
  set(verb run)
  if(ARG_CHECK)
    set(verb check)
  endif()
  list(POP_FRONT ARG_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${ARG_NAME} COMMAND ${UNDERSTUDY_PROGRAM} ${verb} ${ARG_OPTIONS} -- ${program} ${ARG_COMMAND})
endfunction()
