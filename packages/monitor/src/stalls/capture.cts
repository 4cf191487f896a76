/**
 * Takes the main thread's stack from the watchdog. An inspector session evaluates a hidden function on top of the interrupted
 * code; that function reads its own stack and posts it back. Connecting, evaluating and disconnecting are posted together, so that
 * no session stays open: an open session slows the program down, and delays its end.
 *
 * JavaScript is interrupted within a millisecond, also in a regular expression. Native code is not: the function runs when it returns. A sample
 * is *late* if the main thread computed or slept for long between question and answer: then the stack is that of the caller.
 *
 * V8 interrupts a queue of promise jobs or ticks between two of them, where no function of the program is on the stack. Then
 * {@link Capture.askAtCall} has the debugger pause it there, step on to the next call of the program, and samples that. The session for it
 * is open for at most two seconds. Each way out resumes: the sample, the time limit, the end of the stall, and the end of this
 * thread, which closes its sessions. A program that listens for a debugger is never paused.
 *
 * The interrupted program must not notice. No promise jobs or ticks run, as Node.js runs them by itself, and a
 * `prepareStackTrace` of the program is not called.
 */
import type { Session } from 'node:inspector';
import { builtin } from '@millrace/base/realm';
import { key, now } from './sampler.cjs';
import type { StallFrame, ThreadTimes, ToWatchdog } from './stall.cjs';

/** Line of the evaluated expression. Lines above it belong to the hidden function. */
const evaluation = /^ {4}at <anonymous>:1:\d+$/;
/** Computing time in ms from which the thread counts as in native code. */
const lateMs = 80;
/** Longest time in ms to wait for a call of the program, with the debugger on. */
const longestCallMs = 2000;
/** Most steps of the debugger from code of Node.js to a call of the program. */
const mostSteps = 8;

/** Stack of a thread. */
interface Sample {
  readonly frames: readonly Frame[];
  /** True if it was taken when native code returned. */
  readonly isLate: boolean;
  /** Time in ms from question to answer. */
  readonly elapsed: number;
}

/** Line of a stack. Without a file it is a function of V8. */
interface Frame extends Omit<StallFrame, 'file'> {
  readonly file: string | null;
}

/** Requested sample. */
interface Request {
  readonly at: number;
  readonly times: ThreadTimes | null;
  /** Open session of a sample at a call; null for the others. */
  readonly session: Session | null;
}

/** Takes samples, one at a time, in the watchdog. */
export class Capture {
  readonly #cwd: string;
  readonly #times: () => ThreadTimes | null;
  #number = 0;
  #asked: Request | null = null;
  /** The reason why there are no samples; null if there are. */
  why: string | null = null;
  /** True if the program listens for a debugger. */
  isInspected = false;

  /** `times`: CPU times of the main thread; null if unknown. */
  constructor(cwd: string, times: () => ThreadTimes | null) {
    this.#cwd = cwd;
    this.#times = times;
  }

  get isPending(): boolean {
    return this.#asked !== null;
  }

  /** Requests a sample, unless one is pending. */
  ask(): void {
    this.#request((session) => {
      this.#evaluate(session);
      session.disconnect();
      return null;
    });
  }

  /** Requests a sample at the next call of a function of the program, which is paused there for it, unless one is pending. */
  askAtCall(): void {
    this.#request((session) => {
      // The listeners may be called within any function of this thread: they change nothing but the session.
      const internal = new Set<string>();
      let steps = 0;
      session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => {
        if (url.startsWith('node:')) internal.add(scriptId);
      });
      session.on('Debugger.paused', ({ params: { callFrames } }) => {
        const isCall = callFrames.some(({ location }) => !internal.has(location.scriptId));
        if (!isCall && steps++ < mostSteps) session.post('Debugger.stepInto');
        else {
          this.#evaluate(session);
          resume(session);
        }
      });
      session.post('Debugger.enable');
      session.post('Debugger.pause');
      return session;
    });
  }

  /** `open` posts all that the session needs to post now; returns the session if it stays open. */
  #request(open: (session: Session) => Session | null): void {
    if (this.#asked !== null || this.why !== null) return;
    this.#number++;
    try {
      const { Session } = builtin('node:inspector');
      const session = new Session();
      session.connectToMainThread();
      const opened = open(session);
      // Read after the calls: this thread may have waited for a CPU meanwhile.
      this.#asked = { at: now(), times: this.#times(), session: opened };
    } catch (error) {
      this.why = (error as Error).message;
    }
  }

  #evaluate(session: Session): void {
    session.post('Runtime.evaluate', {
      expression: `process[Symbol.for('${key}')]?.(${this.#number})`,
      silent: true,
    });
  }

  /** Drops the pending sample if it has waited too long for a call. Returns true then. */
  expire(): boolean {
    const asked = this.#asked;
    if (!asked?.session || now() - asked.at < longestCallMs) return false;
    this.forget();
    return true;
  }

  /** Drops the pending sample, which belongs to a past stall. */
  forget(): void {
    const asked = this.#asked;
    this.#asked = null;
    if (asked?.session) resume(asked.session);
  }

  /** Reads an answer; null if no sample is pending for it. */
  read({ number, at, times, stack, isInspected }: ToWatchdog): Sample | null {
    const asked = this.#asked;
    if (asked === null || number !== this.#number) return null;
    this.#asked = null;
    this.isInspected = isInspected;
    if (stack === null) {
      this.why = 'errors of this program have no stacks, as with --frozen-intrinsics';
      return null;
    }
    const lines = stack.split('\n');
    const own = lines.findIndex((line) => evaluation.test(line)) + 1;
    const frames = framesOf(lines.slice(own), this.#cwd);
    const elapsed = at - asked.at;
    // A call is no native code, however long it took until it came.
    const late = asked.session === null && isLate(elapsed, asked.times, times);
    return { frames, isLate: late, elapsed };
  }
}

/** Closes a session, paused or not. Idempotent. */
function resume(session: Session): void {
  try {
    session.post('Debugger.resume');
    session.disconnect();
  } catch {
    // It is closed.
  }
}

/** Reports whether the thread computed or slept for long within `elapsed` ms. A wait for a CPU does not count. */
export function isLate(
  elapsed: number,
  before: ThreadTimes | null,
  after: ThreadTimes | null,
): boolean {
  if (before === null || after === null) return elapsed > lateMs;
  const cpu = after.cpu - before.cpu;
  return cpu > lateMs || elapsed - cpu - (after.starved - before.starved) > lateMs;
}

/** Reads the lines of a stack; others are dropped. */
export const framesOf = (lines: readonly string[], cwd: string): Frame[] =>
  lines.filter((line) => /^ {4}at /.test(line)).map((line) => frameOf(line, cwd));

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

/** Returns a path, relative to the working folder if it is inside it. */
export function local(file: string, cwd: string): string {
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

/** Combined result of a stall's samples. */
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

/** Common path of functions in several samples, from the outermost one. */
interface Path {
  readonly depth: number;
  /** First sample with this path, and the index of the innermost function of the path in it. */
  readonly frames: readonly Frame[];
  readonly index: number;
  count: number;
  /** Time in ms that these samples represent, and the part of the late ones. */
  ms: number;
  lateMs: number;
}

/** Returns the time in ms that a sample represents. A late one represents the whole time until its answer. */
const usualMs = 20;

/**
 * Samples of one stall. The blocking function is the innermost one that more than half of the samples, weighted by time, have in the
 * same place of the stack: its callees vary, but it is in each sample. Lines are not compared, as a loop has several.
 */
export class Samples {
  readonly #paths = new Map<string, Path>();
  count = 0;
  /** Number of samples with a line of JavaScript outside Node.js. */
  placed = 0;
  /** Time in ms that those samples represent. */
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
    // Without agreement, as between unrelated jobs, the most frequent function.
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
