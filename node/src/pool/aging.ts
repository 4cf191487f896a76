/**
 * Aging of tasks, so that none starves: one that has waited `agingMs` for each priority above its own has aged, and goes before what came
 * later. Aged tasks get one turn in {@link agedEvery}; with more, a backlog of old ones would be the highest priority there is.
 */
export const agedEvery = 4;

/** A priority, as far as its oldest task shows: when that was created, in ms; Infinity when none waits. */
interface Aging {
  readonly oldestMs: number;
}

/** Index of the class whose oldest task has aged and is older than all of higher priority; -1: none. Classes stand in order, the highest first. */
export function agedClass(classes: readonly Aging[], nowMs: number, agingMs: number): number {
  let first = -1;
  let aged = -1;
  let before = Number.POSITIVE_INFINITY;
  for (let priority = 0; priority < classes.length; priority++) {
    const { oldestMs } = classes[priority]!;
    if (oldestMs >= before) continue;
    if (first < 0) first = priority;
    else if (nowMs - oldestMs < agingMs * (priority - first)) continue;
    else aged = priority;
    before = oldestMs;
  }
  return aged;
}
