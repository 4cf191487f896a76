/**
 * Look-ups of names by `dns.lookup`, those of connections among them: how many equal ones auto would have made one, as they were under way
 * within 50 ms of the first, and how many more asked again soon, which only answers that are kept would spare.
 */
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';
import { type Method, type Patch, patchMethod } from '@millrace/base/patch';
import { performance } from '@millrace/base/timers';

/** Look-ups of names, and those of them that auto would have saved. */
export interface LookupsReport {
  /** Calls of `dns.lookup` for a name, with callbacks and with promises. */
  lookups: number;
  /** Different names with their options; at most 1,000 are counted apart. */
  questions: number;
  /** Look-ups that `dns` joins to an equal one in flight that began at most 50 ms before. */
  joined: number;
  /** Look-ups among the others that came at most 10 s after an equal one. */
  repeated: number;
  /** Most equal look-ups that were joined into one. */
  mostJoined: number;
}

/** A question that was asked, and how many joined it. */
interface Asked {
  startedMs: number;
  isUnderWay: boolean;
  joined: number;
}

/** Ms in which auto joins equal look-ups, and in which an equal one came soon. */
const boardingMs = 50;
const soonMs = 10_000;
const mostQuestions = 1000;
const longestName = 255;

export class LookupsObserver {
  readonly #counts = { lookups: 0, questions: 0, joined: 0, repeated: 0, mostJoined: 0 };
  readonly #asked = new Map<string, Asked>();
  #patches: Patch[] = [];
  #isOn = false;

  start(): void {
    const observer = this;
    this.#isOn = true;
    this.#patches = [
      patchMethod(dns, 'lookup', (original) => {
        return function lookup(this: unknown, ...args: unknown[]) {
          const { length } = args;
          const callback = args[length - 1];
          if (!observer.#isOn || typeof callback !== 'function') {
            return Reflect.apply(original, this, args);
          }
          const asked = observer.#ask('callback', args[0], length > 2 ? args[1] : undefined);
          if (asked !== null) {
            args[length - 1] = function (this: unknown, ...answer: unknown[]) {
              asked.isUnderWay = false;
              return Reflect.apply(callback as Method, this, answer);
            };
          }
          return Reflect.apply(original, this, args);
        };
      }),
      patchMethod(dns.promises, 'lookup', (original) => {
        return function lookup(this: unknown, ...args: unknown[]) {
          const result = Reflect.apply(original, this, args);
          const asked = observer.#isOn ? observer.#ask('promise', args[0], args[1]) : null;
          if (asked === null) return result;
          const land = () => {
            asked.isUnderWay = false;
          };
          // A promise of its own: a rejection that nobody handles stays one.
          (result as Promise<unknown>).then(land, land);
          return adopted(result as Promise<unknown>);
        };
      }),
    ];
    syncBuiltinESMExports();
  }

  stop(): void {
    this.#isOn = false;
    for (const patch of this.#patches.splice(0)) patch.undo();
    syncBuiltinESMExports();
    this.#asked.clear();
  }

  get count(): number {
    return this.#counts.lookups;
  }

  read(): LookupsReport {
    return { ...this.#counts };
  }

  /** Null for what Node.js answers, or refuses, without a look-up, and for what another one answers. */
  #ask(kind: string, name: unknown, given: unknown): Asked | null {
    if (typeof name !== 'string' || name === '' || name.length > longestName || isIP(name) !== 0) {
      return null;
    }
    const options = typeof given === 'number' ? { family: given } : (given ?? {});
    const { family, hints, all, order, verbatim } = options as Record<string, unknown>;
    const key = [kind, name, family || 0, hints || 0, all ?? false, order, verbatim].join('\n');
    const counts = this.#counts;
    const at = performance.now();
    const last = this.#asked.get(key);
    counts.lookups++;
    if (last === undefined) counts.questions++;
    else if (last.isUnderWay && at - last.startedMs <= boardingMs) {
      counts.joined++;
      last.joined++;
      counts.mostJoined = Math.max(counts.mostJoined, last.joined + 1);
      return null;
    } else if (at - last.startedMs <= soonMs) counts.repeated++;
    const asked = { startedMs: at, isUnderWay: true, joined: 0 };
    // The one that was asked longest ago goes first.
    this.#asked.delete(key);
    this.#asked.set(key, asked);
    if (this.#asked.size > mostQuestions) this.#asked.delete(this.#asked.keys().next().value!);
    return asked;
  }
}

const adopted = <Value>(promise: Promise<Value>): Promise<Value> => promise.then((value) => value);
