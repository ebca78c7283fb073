"""Flags of the summary as plain integers: `int & IntFlag` costs ten times `int & int`, and the flow tests millions."""

from __future__ import annotations

from smp.domain.source import ClassFlag, FunctionFlag

F_CLASS_METHOD = int(FunctionFlag.CLASS_METHOD)
F_STATIC = int(FunctionFlag.STATIC)
F_PROPERTY = int(FunctionFlag.PROPERTY)
F_SETTER = int(FunctionFlag.SETTER)
F_DELETER = int(FunctionFlag.DELETER)
F_OVERLOAD = int(FunctionFlag.OVERLOAD)
F_ASYNC = int(FunctionFlag.ASYNC)
F_GENERATOR = int(FunctionFlag.GENERATOR)
F_DECORATED = int(FunctionFlag.DECORATED)
F_TEST = int(FunctionFlag.TEST)
F_ASSERTS = int(FunctionFlag.ASSERTS)
F_RECEIVER_PARAM = int(FunctionFlag.RECEIVER_PARAM)
C_INTERFACE = int(ClassFlag.INTERFACE)
C_DATA = int(ClassFlag.DATA)
C_PARTIAL = int(ClassFlag.PARTIAL)
C_ENUM = int(ClassFlag.ENUM)
