# Compiler settings and the helper functions that the CMakeLists of the folders use.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of GCC 14 on inlined standard library code.
  add_compile_options(-Wno-error=array-bounds -Wno-error=stringop-overflow
                      -Wno-error=maybe-uninitialized -Wno-error=free-nonheap-object)
endif()
if(TITANIUM_SANITIZE)
  # vptr: its check opens a pipe, which aborts the tests in which descriptors have run out.
  add_compile_options(-fsanitize=${TITANIUM_SANITIZE} -fno-sanitize=vptr
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TITANIUM_SANITIZE})
endif()

find_program(TITANIUM_CCACHE ccache)
if(TITANIUM_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TITANIUM_CCACHE})
endif()
find_program(TITANIUM_MOLD mold)
if(TITANIUM_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3.5 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
pkg_check_modules(CARES REQUIRED IMPORTED_TARGET libcares)

# Adds the layer src/NAME as a static library titanium_NAME from the .cc files below it.
# The arguments after NAME are libraries to link: layers as titanium_X, third-party ones as they are.
function(titanium_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  add_library(titanium_${name} OBJECT ${sources})
  target_include_directories(titanium_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                                                     ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(titanium_${name} PUBLIC ${ARGN})
endfunction()
