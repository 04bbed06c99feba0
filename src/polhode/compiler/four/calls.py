"""Compiled forms of the functions that call others: over tuples, on all lanes, lane by lane."""

from numba import types as nt
from numba.core.errors import NumbaError

from polhode.compiler.four import plain
from polhode.compiler.four.kinds import FOUR, in_lanes, lanes_among, primitive, with_numbers
from polhode.compiler.four.machine import packed, unpack
from polhode.compiler.machine import I32, align_stack
from polhode.compiler.traced import FORMS, Known, attempted, cast, kind_of


@primitive("each")
def each(typing, function, rows):
    tuples = [isinstance(row, nt.BaseTuple) for row in rows]
    count = max(len(row) for row, is_tuple in zip(rows, tuples, strict=True) if is_tuple)
    columns = [
        tuple(row[i] if is_tuple else row for row, is_tuple in zip(rows, tuples, strict=True))
        for i in range(count)
    ]
    calls = [function.get_call_type(typing, column, {}) for column in columns]
    kind = nt.BaseTuple.from_types([call.return_type for call in calls])

    def lower(context, builder, sig, args):
        part = builder.extract_value
        given = [part(args[1], j) for j in range(len(rows))]
        results = []
        for i, (call, column) in enumerate(zip(calls, columns, strict=True)):
            code = context.get_function(sig.args[0], call)
            values = [part(x, i) if t else x for x, t in zip(given, tuples, strict=True)]
            values = [
                context.cast(builder, x, had, wanted)
                for x, had, wanted in zip(values, column, call.args, strict=True)
            ]
            results.append(code(builder, values))
        return context.make_tuple(builder, kind, results)

    return kind(function, rows), lower


def accepted(typing, function, args):
    """Return the typed call of a function, None if the compiler refuses it."""
    try:
        return function.get_call_type(typing, args, {})
    except NumbaError:
        return None


def lanes_in(kind):
    """Return the type of the numbers in lanes in a nested tuple type; four if there are none."""

    def numbers(kind):
        if isinstance(kind, nt.BaseTuple):
            return [number for part in kind for number in numbers(part)]
        return [kind]

    return lanes_among(numbers(kind)) or FOUR


@primitive("takes_fours")
def takes_fours(typing, function, fours, shared):
    together = accepted(typing, function, (*fours, *shared)) is not None

    def lower(context, builder, sig, args):
        return context.get_constant(nt.boolean, together)

    return nt.boolean(function, fours, shared), lower


@primitive("at_once")
def at_once(typing, function, fours, shared):
    call = accepted(typing, function, (*fours, *shared))
    together, several = call is not None, lanes_in(fours)
    if not together:
        numbers = [with_numbers(kind, nt.float64) for kind in fours]
        call = function.get_call_type(typing, (*numbers, *shared), {})
    result = with_numbers(call.return_type, several)

    def lower(context, builder, sig, args):
        part = builder.extract_value
        code = context.get_function(sig.args[0], call)
        rest = [part(args[2], i) for i in range(len(shared))]
        given = [part(args[1], i) for i in range(len(fours))]

        def called(values):
            had = (*([*fours] if together else numbers), *shared)
            cast = zip([*values, *rest], had, call.args, strict=True)
            return code(builder, [context.cast(builder, x, old, new) for x, old, new in cast])

        def lane(kind, value, i):
            if isinstance(kind, nt.BaseTuple):
                parts = [lane(k, part(value, j), i) for j, k in enumerate(kind)]
                return context.make_tuple(builder, with_numbers(kind, nt.float64), parts)
            return builder.extract_element(value, I32(i))

        def joined(kind, values):
            """Join one value in lanes, or one value for each lane, to a value in lanes."""
            if isinstance(kind, nt.BaseTuple):
                parts = [joined(k, [part(x, j) for x in values]) for j, k in enumerate(kind)]
                return context.make_tuple(builder, with_numbers(kind, several), parts)
            if together:
                return context.cast(builder, values[0], kind, several)
            return in_lanes(builder, [context.cast(builder, x, kind, nt.float64) for x in values])

        if together:
            return joined(call.return_type, [called(given)])
        ends = [
            called([lane(k, x, i) for k, x in zip(fours, given, strict=True)])
            for i in range(several.width)
        ]
        return joined(call.return_type, ends)

    return result(function, fours, shared), lower


@primitive("on_aligned_stack")
def on_aligned_stack(_):
    def lower(context, builder, sig, args):
        align_stack(builder)
        return context.get_dummy_value()

    return nt.void(), lower


@primitive("if_it_can")
def if_it_can(typing, first, second, args):
    call, place = accepted(typing, first, tuple(args)), 0
    if call is None:
        call, place = second.get_call_type(typing, tuple(args), {}), 1

    def lower(context, builder, sig, values):
        code = context.get_function(sig.args[place], call)
        given = [builder.extract_value(values[2], i) for i in range(len(args))]
        cast = zip(given, args, call.args, strict=True)
        return code(builder, [context.cast(builder, x, old, new) for x, old, new in cast])

    return call.return_type(first, second, args), lower


# ---- the same for numbers of straight functions
def _wide(value, kind):
    """Return a value in lanes: numbers are broadcast."""
    if isinstance(value, tuple):
        return tuple(_wide(part, kind) for part in value)
    return cast(value, kind)


def _lanes(value, width):
    if isinstance(value, tuple):
        parts = [_lanes(part, width) for part in value]
        return list(zip(*parts, strict=True)) if parts else [()] * width
    return lane_of(value)


def traced_at_once(function, fours, shared):
    """Call a function on all lanes at once if that can be compiled, else on one after the other."""
    together, several = attempted(function, (*fours, *shared)), lanes_in(kind_of(fours))
    if together is not None:
        return _wide(together[0], several)
    return _joined([function(*lane, *shared) for lane in _lanes(fours, several.width)])


def _joined(values):
    if isinstance(values[0], tuple):
        return tuple(map(_joined, zip(*values, strict=True)))
    return joined_lanes(tuple(cast(x, nt.float64) for x in values))


def traced_if_it_can(first, second, args):
    """Call ``first`` if that can be compiled, else ``second``."""
    done = attempted(first, args)
    return second(*args) if done is None else done[0]


lane_of, joined_lanes = Known(unpack), Known(packed)
FORMS.update(
    {plain.each: plain.each, plain.at_once: traced_at_once, plain.if_it_can: traced_if_it_can}
)
