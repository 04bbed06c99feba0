"""How duals get from plain Python into compiled functions, and back."""

import itertools

from llvmlite import ir
from numba import types as nt
from numba.core import cgutils
from numba.extending import NativeValue, box, unbox

from polhode.compiler.dual.kinds import DualType, is_vector
from polhode.compiler.dual.plain import Dual, Single
from polhode.compiler.four.kinds import LanesType, in_lanes
from polhode.compiler.four.plain import WIDTH
from polhode.compiler.machine import I32


@unbox(DualType)
def _unbox(kind: DualType, obj, c):
    builder, api = c.builder, c.pyapi
    x, d = api.object_getattr_string(obj, "x"), api.object_getattr_string(obj, "d")
    places = itertools.count()

    def number(kind, obj):
        return c.unbox(kind, obj).value

    def direction(member):
        if not isinstance(member, LanesType):
            return number(member, api.tuple_getitem(d, next(places)))
        lanes = (api.tuple_getitem(d, next(places)) for _ in range(member.width))
        return in_lanes(builder, [number(nt.float64, one) for one in lanes])

    value = ir.Constant(c.context.get_value_type(kind), ir.Undefined)
    value = builder.insert_value(value, number(kind.base, x), 0)
    for i, member in enumerate(kind.members[1:], 1):
        value = builder.insert_value(value, direction(member), i)
    api.decref(x)
    api.decref(d)
    return NativeValue(value, is_error=cgutils.is_not_null(builder, api.err_occurred()))


@box(DualType)
def _box(kind: DualType, value, c):
    builder, api = c.builder, c.pyapi
    x, *members = (builder.extract_value(value, i) for i in range(1 + kind.count))
    d = []
    for member in members:
        if is_vector(member.type):
            count = range(member.type.count)
            lanes = (builder.extract_element(member, I32(lane)) for lane in count)
            d += [c.box(nt.float64, lane) for lane in lanes]
        else:
            d.append(c.box(kind.base, member))
    alone = kind.part == nt.float64 and kind.count % WIDTH == 0
    made = Single if alone else Dual
    function = api.unserialize(api.serialize_object(made))
    parts = [c.box(kind.base, x), api.tuple_pack(d)]
    result = api.call_function_objargs(function, parts)
    for obj in (function, *parts, *d):
        api.decref(obj)
    return result
