# What `cmake --install` puts where, and the checks that are targets of their own.
include(CMakePackageConfigHelpers)
include(cmake/check_headers.cmake)

# The archive has to be usable for programs that are linked without LTO, or by another compiler:
# beside the intermediate code, its objects carry machine code.
if(CMAKE_INTERPROCEDURAL_OPTIMIZATION AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  foreach(layer base http net tls http1 proxy route cluster config cli)
    target_compile_options(titanium_${layer} PRIVATE -ffat-lto-objects)
  endforeach()
endif()

install(TARGETS titanium RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS titanium_all ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/titanium DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(FILES packaging/titanium.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The way back from the folders of the package files to the prefix, so that an installation may move.
file(RELATIVE_PATH TITANIUM_PC_TO_PREFIX
     /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
file(RELATIVE_PATH TITANIUM_CMAKE_TO_PREFIX
     /prefix/${CMAKE_INSTALL_LIBDIR}/cmake/titanium /prefix)
configure_file(packaging/titanium.pc.in ${PROJECT_BINARY_DIR}/packaging/titanium.pc @ONLY)
configure_file(packaging/titaniumConfig.cmake.in
               ${PROJECT_BINARY_DIR}/packaging/titaniumConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/packaging/titaniumConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/packaging/titanium.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/packaging/titaniumConfig.cmake
              ${PROJECT_BINARY_DIR}/packaging/titaniumConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/titanium)

# The unit names the program by its full path, which is known only when it is installed.
install(CODE "
  set(TITANIUM_PROGRAM \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/titanium\")
  configure_file(\"${PROJECT_SOURCE_DIR}/packaging/titanium.service.in\"
                 \"${PROJECT_BINARY_DIR}/packaging/titanium.service\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/packaging/titanium.service
        DESTINATION lib/systemd/system)
