# SPDX-License-Identifier: LGPL-2.1-or-later
"""Umwelt for Spack. It builds what is committed in the checkout that it lies in (ci/package/README.md)."""

import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *

CHECKOUT = pathlib.Path(__file__).resolve().parents[7]
DISTRIBUTIONS_D3 = "/usr/share/nodejs/d3/dist/d3.min.js"


class Umwelt(CMakePackage):
    """Runs unmodified MPI, OpenSHMEM and Portals 4 programs on a simulated HPC machine, and tells how long they would
    take there: a drop-in replacement of mpirun and oshrun, built on SimGrid."""

    git = CHECKOUT.as_uri()

    # The command itself; umwelt-calibrate, which is linked with GSL, is GPL-3.0-or-later.
    license("LGPL-2.1-or-later")

    version("main", branch="main")

    variant(
        "openmpi",
        default=False,
        description="Bring components for Debian's Open MPI; for any other one: umwelt openmpi --source",
    )
    variant("sweep", default=True, description="Bring what umwelt sweep needs of Python")
    variant("tests", default=False, description="Build tests and benchmarks, which need Debian's MPI libraries, too")
    variant("d3", default=DISTRIBUTIONS_D3, description="d3.min.js of D3 5, which draws the pages of umwelt report")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11@2.1:2", type="build")
    depends_on("nlohmann-json@3.11:3", type="build")
    depends_on("googletest@1.12: +gmock", type="build", when="+tests")
    depends_on("benchmark@1.7:", type="build", when="+tests")

    # Lower bounds are what Debian 12 has; upper ones, where there are, what Debian 13 has.
    depends_on("simgrid@3.32:4.0")
    depends_on("boost@1.74: +context")
    depends_on("elfutils@0.188:")
    depends_on("fmt@9:10")
    depends_on("gsl@2.7:")
    depends_on("libfabric@1.17:2")
    depends_on("libmicrohttpd@0.9.75:")
    depends_on("libunwind@1.6:")
    depends_on("muparser@2.3:")
    depends_on("otf2@3.0:3")
    depends_on("pmix@4.2:5")
    # Spack's 21.12 is 3.21.12. CMake's own module finds that, and does not know what later ones need besides.
    depends_on("protobuf@21")
    depends_on("yaml-cpp@0.7:0.8 +shared")
    depends_on("zydis@4")

    # umwelt sweep, and gdb's part of umwelt debug
    depends_on("python@3.11:", type="run")
    with default_args(type="run", when="+sweep"):
        depends_on("py-jinja2")
        depends_on("py-matplotlib")
        depends_on("py-numpy")
        depends_on("py-pyyaml")
        depends_on("py-scipy")

    # As an external one (packages.yaml): Spack's own has no headers for components, nor is its source at hand.
    depends_on("openmpi@4.1.4,5.0.7", when="+openmpi")
    # `umwelt openmpi` builds with them when a user asks for it.
    with default_args(type="run", when="~openmpi"):
        depends_on("cmake@3.25:")
        depends_on("gmake")

    requires("platform=linux", msg="ranks are loaded by glibc's dynamic linker")
    requires("target=x86_64:", msg="ranks and the runtime switch thread pointers with x86-64's instructions")
    conflicts("%gcc@:11", msg="C++20 as GCC 12 knows it")
    conflicts("+tests", when="~openmpi")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("UMWELT_OPENMPI", "openmpi"),
            self.define_from_variant("UMWELT_TESTS", "tests"),
            self.define_from_variant("UMWELT_BENCHMARKS", "tests"),
            self.define_from_variant("UMWELT_D3", "d3"),
        ]

    def _umwelt(self, *arguments):
        """What the installed command prints; a failure is the test's."""
        return Executable(self.prefix.bin.umwelt)(*arguments, output=str.split, error=str.split)

    def test_doctor(self):
        """this machine can run simulations"""
        assert "Umwelt can run here" in self._umwelt("doctor")

    def test_ranks(self):
        """four ranks of a program without MPI, each on a node of its own"""
        names = self._umwelt("run", "-q", "--cpu", "none", "-np", "4", "hostname").split()
        assert sorted(names) == ["bxi0", "bxi1", "bxi2", "bxi3"], names

    def test_portals(self):
        """messages of Portals between two ranks"""
        program = self.prefix.bin.ptlbench
        options = ["put_waitack", "--sizes", "8", "--count", "10"]
        assert "message rate" in self._umwelt("run", "-q", "--cpu", "none", "-np", "2", program, *options)

    def test_mpi(self):
        """a collective of Open MPI's on four ranks"""
        if self.spec.satisfies("~openmpi"):
            raise SkipTest("components are built for an Open MPI when a user asks for it")
        program = find(self.prefix, "collbench-openmpi")[0]
        assert "time 8" in self._umwelt("run", "-q", "--cpu", "none", "-np", "4", program, "allreduce", "4", "8")
