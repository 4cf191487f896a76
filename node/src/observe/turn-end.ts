/** The end of the loop turn for all observers: one `setImmediate` for each turn in which something was seen. */
import { setImmediate } from '../core/timers.cjs';

let waiting: (() => void)[] = [];

/** Calls `fn` when what the poll phase of this turn has brought is done. */
export function atTurnEnd(fn: () => void): void {
  if (waiting.push(fn) === 1) setImmediate(end);
}

function end(): void {
  const ending = waiting;
  waiting = [];
  for (const fn of ending) fn();
}
