/**
 * The end of the loop turn for all coalesced sockets: one `setImmediate` a turn, and one listener for the end of the
 * process. The check phase follows the poll phase, in which reads and their callbacks ran.
 */

import { setImmediate } from '../core/timers.cjs';

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

/** Makes sure that what is held leaves when the process exits: the last chance, and a synchronous one. */
export function listenForExit(): void {
  if (listening) return;
  listening = true;
  process.on('exit', () => {
    exiting = true;
    endTurn();
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
