# The target `header_check` compiles every header alone, so that a header that leans on what others
# include before it is found. Not part of `all`; incremental as everything else.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/include/*.h)
set(checks)
foreach(header ${headers})
  string(MAKE_C_IDENTIFIER ${header} name)
  set(check ${PROJECT_BINARY_DIR}/header_check/${name}.cc)
  string(REGEX REPLACE "^(src|include)/" "" include ${header})
  file(CONFIGURE OUTPUT ${check} CONTENT "#include \"${include}\"\n")
  list(APPEND checks ${check})
endforeach()
add_library(header_check OBJECT EXCLUDE_FROM_ALL ${checks})
target_include_directories(header_check PRIVATE ${PROJECT_SOURCE_DIR}/src
                                                ${PROJECT_SOURCE_DIR}/include)
target_compile_options(header_check PRIVATE -O0 -g0)
target_link_libraries(header_check PRIVATE OpenSSL::SSL PkgConfig::CARES yaml-cpp::yaml-cpp
                                           spdlog::spdlog)
