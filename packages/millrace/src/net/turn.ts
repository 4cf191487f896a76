/**
 * The end of the loop turn for all sockets that hold something back, and the end of the process. There is one for all of them: who
 * joined first sends first, and one listener for `exit` finds everything.
 */
import { patchMethod } from '@millrace/base/patch';
import { atTurnEnd, callEach, Turn } from '@millrace/base/turn';

export interface TurnMember {
  /** Releases everything held. */
  endTurn(): void;
}

// One that throws, because somebody has replaced its methods, must not keep the data of the others.
const members = new Turn<TurnMember>(atTurnEnd, (ending) =>
  callEach(ending, (member) => member.endTurn()),
);
let listening = false;
let exiting = false;

/** Calls `member.endTurn()` at the end of this turn, or when the process exits. */
export function joinTurn(member: TurnMember): void {
  members.add(member);
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
    members.flush();
  });
  for (const name of ['kill', 'reallyExit', 'abort']) sendBefore(name);
}

/** A signal to another process sends it early, which harms nothing and is simpler than to find out whose group a number is. */
function sendBefore(name: string): void {
  // Another runtime may not have it.
  if (!(name in process)) return;
  patchMethod(process, name, (original) => {
    return function (this: unknown, ...args: unknown[]): unknown {
      members.flush();
      return Reflect.apply(original, this, args);
    };
  });
}

/** Reports whether no turn follows, so that nothing may be held. */
export function isExiting(): boolean {
  return exiting;
}
