"""Loop templates for one body, and how they are bound to a method and a model.

A template is a plain function that calls the stubs of ``contracts``; see ``binding``.
"""

from polhode.loops.adaptive import (
    MAX_TRIALS,
    adapt,
    clipped,
    packed_adapt,
    slope_takes_fours,
    step_of,
)
from polhode.loops.binding import STEPPING, bound, build, functions_of, joined, model_pieces
from polhode.loops.dense import between, by_reading, by_step, by_trial, packed_sampled, sampled
from polhode.loops.fixed import (
    MAX_ITERATIONS,
    alike,
    attempt,
    only_part,
    only_step,
    packed_record,
    part,
    part_of_three,
    record,
    solved_step,
    substeps,
    sure_step,
    whole_step,
)
from polhode.loops.rows import (
    accelerations,
    attitude_of,
    event,
    free_motion,
    is_any,
    is_attitude,
    left,
    packed_free_motion,
    packed_states,
    params_in,
    potentials,
    reads_variables,
    state_in,
    states_of,
    variables_in,
    velocities,
    watched,
    whole_state_in,
)
