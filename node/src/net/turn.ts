/**
 * The end of the loop turn for all coalesced sockets: one `setImmediate` a turn, and one listener for the end of the
 * process. The check phase follows the poll phase, in which reads and their callbacks ran.
 */

import { setImmediate } from '../core/timers.cjs';
import { wrapMethod } from './patch.js';

export interface TurnMember {
  /** Nothing is held any longer. */
  endTurn(): void;
}

let members: TurnMember[] = [];
let listening = false;
let exiting = false;

/** Calls `member.endTurn()` at the end of this turn, or when the process exits. */
export function joinTurn(member: TurnMember): void {
  if (members.push(member) === 1) setImmediate(endTurn);
}

/**
 * Sends everything that is held when the process exits: the last chance, and a synchronous one. `process.kill()` of itself,
 * `process.reallyExit()` and `process.abort()` emit no 'exit', so they send it first.
 */
export function listenForExit(): void {
  if (listening) return;
  listening = true;
  process.on('exit', () => {
    exiting = true;
    endTurn();
  });
  for (const name of ['kill', 'reallyExit', 'abort']) sendBefore(name);
}

/** A signal to another process sends it early, which harms nothing and is simpler than to find out whose group a number is. */
function sendBefore(name: string): void {
  // Another runtime may not have it.
  if (!(name in process)) return;
  wrapMethod(process, name, (original) => {
    return function (this: unknown, ...args: unknown[]): unknown {
      endTurn();
      return Reflect.apply(original, this, args);
    };
  });
}

/** No turn follows, so nothing may be held. */
export function isExiting(): boolean {
  return exiting;
}

function endTurn(): void {
  const ending = members;
  members = [];
  let next = 0;
  try {
    while (next < ending.length) ending[next++]!.endTurn();
  } finally {
    // One that throws, because somebody has replaced its methods, must not keep the data of the others.
    for (; next < ending.length; next++) joinTurn(ending[next]!);
  }
}
