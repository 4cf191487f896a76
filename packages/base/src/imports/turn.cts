/** Names of `turn.cts` for ES modules: `schema.cts` of this folder says why. */
import turn = require('../turn.cjs');

export const { afterMicrotasks, atTurnEnd, callEach, nextMicrotask, onceAt, throwLater, Turn } =
  turn;
