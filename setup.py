"""Builds the one compiled room, `rushlight.core`."""

from Cython.Build import cythonize
from setuptools import Extension, setup

engine = Extension(
    "rushlight.core.engine",
    ["src/rushlight/core/engine.pyx"],
    depends=["src/rushlight/core/team.h", "src/rushlight/core/allocator.h", "src/rushlight/core/scalars.h"],
    extra_compile_args=["-O2", "-fno-strict-aliasing", "-pthread", "-Wno-unused-function"],
    extra_link_args=["-pthread", "-s"],
)
setup(ext_modules=cythonize([engine], language_level=3))
