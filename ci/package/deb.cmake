# The Debian package: `cpack -G DEB` in the build directory (README.md). It depends on the packages of what is linked.
set(CPACK_PACKAGE_NAME umwelt)
set(CPACK_PACKAGE_VENDOR "Umwelt")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "run MPI and OpenSHMEM programs on a simulated HPC machine")
set(CPACK_PACKAGE_DESCRIPTION "Runs unmodified programs for MPI, OpenSHMEM and Portals 4 on this machine
as if they ran on a cluster, and tells how long they would take there:
a drop-in replacement of mpirun and oshrun, built on SimGrid.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/packager.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/stage.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/umwelt
    ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/umwelt/openmpi)
set(CPACK_DEBIAN_PACKAGE_DEPENDS python3)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin, python3-yaml")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "gdb, gnuplot-nox, hwloc-nox, python3-jinja2, python3-matplotlib, python3-scipy, slurm-wlm")
include(CPack)
