/**
 * The stack of the main thread, taken from the watchdog. An inspector session evaluates a hidden function on top of the code that is
 * interrupted; that function reads its own stack and posts it back. Connecting, evaluating and disconnecting are posted in one go, so that
 * no session is open beyond that: an open one slows the program down, and delays its end.
 *
 * JavaScript is interrupted within a millisecond, also in a regular expression. Native code is not: the function runs when it returns. A sample
 * is *late* if the main thread has computed for long between question and answer, or has slept: then the stack is that of the caller.
 *
 * The interrupted program must not notice. Neither promise jobs nor ticks run, as Node.js runs them by itself; and a
 * `prepareStackTrace` of the program is not called.
 */
import { builtin } from '@millrace/base/realm';
import { hrtime } from '@millrace/base/timers';
import { ownTimes } from './process-state.cjs';
import type { StallFrame, ThreadTimes, ToWatchdog } from './stall.cjs';

/** The name of the hidden function: a property of `process`. */
const key = 'millrace.stalls.sample';
const mostFrames = 64;
/** The line of the evaluated expression. Those above it are of the hidden function. */
const evaluation = /^ {4}at <anonymous>:1:\d+$/;
/** Computing time in ms after which the thread was in native code. */
const lateMs = 80;

/** Hides the function, in the main thread. `post` must not throw. */
export function hideSampler(post: (answer: ToWatchdog) => void): () => void {
  const holder = process as unknown as Record<symbol, ((number: number) => void) | undefined>;
  holder[Symbol.for(key)] = (number) => {
    const stack = stackOf();
    post({ number, at: now(), times: ownTimes(), stack });
  };
  return () => {
    delete holder[Symbol.for(key)];
  };
}

/** Monotonic time in ms, which all threads share: that of `performance` begins anew in each. */
const now = (): number => Number(hrtime() / 1000n) / 1000;

const changed = ['stackTraceLimit', 'prepareStackTrace'] as const;

/** Null where there are no stacks: with frozen intrinsics, or with accessors of the program in the way. */
function stackOf(): string | null {
  const before = changed.map((name) => Object.getOwnPropertyDescriptor(Error, name));
  const [limit, prepare] = before;
  if ([limit, prepare].some((each) => each !== undefined && !('value' in each))) return null;
  if (prepare?.value !== undefined && !prepare.writable) return null;
  try {
    Reflect.set(Error, 'stackTraceLimit', mostFrames);
    if (prepare?.value !== undefined) Reflect.set(Error, 'prepareStackTrace', undefined);
    return new Error('').stack ?? null;
  } finally {
    if (prepare?.value !== undefined) Reflect.set(Error, 'prepareStackTrace', prepare.value);
    if (limit === undefined) Reflect.deleteProperty(Error, 'stackTraceLimit');
    else Reflect.set(Error, 'stackTraceLimit', limit.value);
  }
}

/** A stack. */
interface Sample {
  readonly frames: readonly Frame[];
  /** Taken when native code returned. */
  readonly isLate: boolean;
  /** Time in ms from question to answer. */
  readonly elapsed: number;
}

/** A line of a stack. Without a file it is a function of V8. */
interface Frame extends Omit<StallFrame, 'file'> {
  readonly file: string | null;
}

/** Takes samples, one at a time, in the watchdog. */
export class Capture {
  readonly #cwd: string;
  readonly #times: () => ThreadTimes | null;
  #number = 0;
  #asked: { readonly at: number; readonly times: ThreadTimes | null } | null = null;
  /** The reason why there are no samples; null if there are. */
  why: string | null = null;

  /** `times`: those of the main thread; null where they are not known. */
  constructor(cwd: string, times: () => ThreadTimes | null) {
    this.#cwd = cwd;
    this.#times = times;
  }

  get isPending(): boolean {
    return this.#asked !== null;
  }

  /** Asks for a sample, unless one is under way. */
  ask(): void {
    if (this.#asked !== null || this.why !== null) return;
    this.#number++;
    try {
      const { Session } = builtin('node:inspector');
      const session = new Session();
      session.connectToMainThread();
      session.post('Runtime.evaluate', {
        expression: `process[Symbol.for('${key}')]?.(${this.#number})`,
        silent: true,
      });
      session.disconnect();
      // Not before: this thread may have waited for a CPU meanwhile.
      this.#asked = { at: now(), times: this.#times() };
    } catch (error) {
      this.why = (error as Error).message;
    }
  }

  /** Drops the sample that is under way: it belongs to a stall that is over. */
  forget(): void {
    this.#asked = null;
  }

  /** Reads an answer; null if nobody waits for it. */
  read({ number, at, times, stack }: ToWatchdog): Sample | null {
    const asked = this.#asked;
    if (asked === null || number !== this.#number) return null;
    this.#asked = null;
    if (stack === null) {
      this.why = 'errors of this program have no stacks, as with --frozen-intrinsics';
      return null;
    }
    const lines = stack.split('\n');
    const frames = lines
      .slice(lines.findIndex((line) => evaluation.test(line)) + 1)
      .filter((line) => /^ {4}at /.test(line))
      .map((line) => frameOf(line, this.#cwd));
    const elapsed = at - asked.at;
    return { frames, isLate: isLate(elapsed, asked.times, times), elapsed };
  }
}

/** Reports whether the thread has computed or slept for long in `elapsed` ms. A wait for a CPU does not count. */
function isLate(elapsed: number, before: ThreadTimes | null, after: ThreadTimes | null): boolean {
  if (before === null || after === null) return elapsed > lateMs;
  const cpu = after.cpu - before.cpu;
  return cpu > lateMs || elapsed - cpu - (after.starved - before.starved) > lateMs;
}

/** `    at fn (file:1:2)`, `    at file:1:2`, `    at RegExp.test (<anonymous>)`. */
function frameOf(line: string, cwd: string): Frame {
  const [, name, place] = /^ {4}at (?:(.*?) \()?(.*?)\)?$/.exec(line) ?? [];
  const match = /^(?:async )?(.*):(\d+):(\d+)$/.exec(place ?? '');
  // `async Object.render [as page]` is `render`.
  const called = (name ?? '').replace(/^(async )?(Object\.)?| \[as .*\]$/g, '') || '(anonymous)';
  if (match === null) return { function: called, file: null, line: 0, column: 0 };
  const [, file, row, column] = match;
  return { function: called, file: local(file!, cwd), line: Number(row), column: Number(column) };
}

function local(file: string, cwd: string): string {
  const path = file.startsWith('file://') ? pathOf(file) : file;
  return path.startsWith(`${cwd}/`) || path.startsWith(`${cwd}\\`)
    ? path.slice(cwd.length + 1)
    : path;
}

function pathOf(url: string): string {
  try {
    return builtin('node:url').fileURLToPath(url);
  } catch {
    return url;
  }
}

type Placed = Frame & StallFrame;

const isPlaced = (frame: Frame): frame is Placed =>
  frame.file !== null && !frame.file.startsWith('node:');
const isForeign = ({ file }: Placed): boolean => /[\\/]?node_modules[\\/]/.test(file);
const mostLines = 16;

/** Result of all samples of a stall. */
interface Verdict {
  readonly at: StallFrame | null;
  readonly builtin: string | null;
  readonly caller: StallFrame | null;
  readonly stack: readonly StallFrame[];
  readonly seen: 'during' | 'after' | null;
  readonly agreeing: number;
}

const none: Verdict = {
  ...{ at: null, builtin: null, caller: null, stack: [], seen: null, agreeing: 0 },
};

/** The same functions, from the outermost one to this one, in several samples. */
interface Path {
  readonly depth: number;
  /** The first of those samples, and the index of the innermost of these functions in it. */
  readonly frames: readonly Frame[];
  readonly index: number;
  count: number;
  /** Time in ms that these samples stand for, and the part of the late ones. */
  ms: number;
  lateMs: number;
}

/** Time in ms that a sample stands for. A late one stands for the whole time until its answer. */
const usualMs = 20;

/**
 * The samples of one stall. The function that blocks is the innermost one that more than half of them, by the time that they stand for, have in
 * the same place of the stack: it calls this and that, and samples catch it in each. Lines are not compared, as a loop has several.
 */
export class Samples {
  readonly #paths = new Map<string, Path>();
  count = 0;
  /** Samples with a line of JavaScript outside Node.js. */
  placed = 0;
  /** Time that those stand for. */
  #placedMs = 0;

  add({ frames, isLate, elapsed }: Sample): void {
    this.count++;
    const ms = isLate ? elapsed : usualMs;
    let id = '';
    let depth = 0;
    for (let index = frames.length - 1; index >= 0; index--) {
      const frame = frames[index]!;
      if (!isPlaced(frame)) continue;
      id += `\n${frame.function} ${frame.file}`;
      depth++;
      const path = this.#paths.get(id) ?? { depth, frames, index, count: 0, ms: 0, lateMs: 0 };
      path.count++;
      path.ms += ms;
      if (isLate) path.lateMs += ms;
      this.#paths.set(id, path);
    }
    if (depth === 0) return;
    this.placed++;
    this.#placedMs += ms;
  }

  read(): Verdict {
    const paths = [...this.#paths.values()];
    const agreed = paths.filter(({ ms }) => ms * 2 > this.#placedMs);
    // Without agreement, as between jobs that do not know each other, the function that most have.
    const [best] =
      agreed.length > 0
        ? agreed.sort((a, b) => b.depth - a.depth)
        : paths.sort((a, b) => b.ms - a.ms || b.depth - a.depth);
    if (best === undefined) return none;
    const { frames, index, ms, lateMs, count } = best;
    const stack = frames.slice(index).filter(isPlaced).slice(0, mostLines);
    const [at, ...callers] = stack as [Placed, ...Placed[]];
    const above = frames[index - 1];
    return {
      at,
      builtin: above === undefined || isPlaced(above) ? null : above.function,
      caller: isForeign(at) ? (callers.find((each) => !isForeign(each)) ?? null) : null,
      stack,
      seen: lateMs * 2 > ms ? 'after' : 'during',
      agreeing: count,
    };
  }
}
