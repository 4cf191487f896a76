/**
 * The functions that keep a loop. The CPU profiler of V8 is on only while turns of the loop are too long, as it slows down all code. It runs
 * in pieces, so that what it has recorded stays small; after a piece without a long turn it is off until the next one, and for good when
 * enough is known. Pieces last one second at first and up to ten later: the long turn of a cold start, which does not come again, costs a
 * second of profiling, and turns that do come again are seen. Of each piece the samples inside of long turns are attributed to functions of the application: a built-in function of JavaScript or
 * Node.js counts for the one that called it, and Millrace itself is left out.
 */
import type { Session, Profiler as V8 } from 'node:inspector';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installed } from '@millrace/base/installed';
import { now } from '@millrace/base/loop-clock';
import { builtin } from '@millrace/base/realm';
import { clearImmediate, clearTimeout, setTimeout } from '@millrace/base/timers';
import { atTurnEnd } from '@millrace/base/turn';
import { thisPackage } from '../../package.cjs';

/** Coarse: what is looked for takes 50 ms and more. In µs. */
const samplingMicros = 5000;
const firstPieceMs = 1000;
const longestPieceMs = 10_000;
/** Attributed time after which it is clear what blocks the loop, and the most pieces that are recorded. */
const enoughMs = 20_000;
const mostPieces = 60;

/** Functions that are told apart, and the built-in ones that each has called. */
const mostFunctions = 1000;
const mostBuiltins = 20;

const packages = [
  'millrace',
  ...['base', 'cluster', 'guard', 'monitor', 'nats', 'pool'].map((name) => `@millrace/${name}`),
];
// A bundle of it is one file with the application: then nothing is left out.
const [millrace = null, ...others] = packages.map((name) => {
  const { folder } = installed({ ...thisPackage, name });
  return folder === null ? null : pathToFileURL(join(folder, 'dist/')).href;
});
const codeOfOurs = [millrace, ...others].filter((href) => href !== null);
const thisFile = `${millrace}tools/observe/profile.js`;

/** Frames that do not keep a loop busy. */
const idle = ['(idle)', '(root)'];
const names: Record<string, string> = {
  '(program)': '(native code)',
  '(garbage collector)': '(garbage collection)',
};

/** A function that ran in blocked turns. */
export interface FunctionTime {
  name: string;
  /** Path of its file, null if it has none: garbage collection, native code. */
  file: string | null;
  line: number | null;
  /** Time in it, in ms, including built-in functions of JavaScript and Node.js that it called. */
  selfMs: number;
  /** Time in it and in its callees, in ms. */
  totalMs: number;
  /** Part of `selfMs` by the built-in function that it has called, such as `readFileSync`, as far as V8 tells. At most 20. */
  builtins: Record<string, number>;
}

/** In ms, on one clock; `share` of it was the thread's own time on a CPU. */
type Span = readonly [from: number, to: number, share: number];

type ProfileNode = V8.ProfileNode;
type FunctionTimes = Map<string, FunctionTime>;

export class Profiler {
  readonly #times: FunctionTimes = new Map();
  #session: Session | null = null;
  #isOver = false;
  #pieces = 0;
  /** Duration of the next piece, in ms. */
  #pieceMs = firstPieceMs;
  #spans: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #turnOver: NodeJS.Immediate | undefined;
  #ownMs = 0;
  /** Ms of long turns that were attributed to functions. */
  attributedMs = 0;

  /** A turn was too long. The profiler sees it if it was on, and is on from now on. */
  note(span: Span): void {
    if (this.#session !== null) this.#spans.push(span);
    else if (!this.#isOver) this.#measured(() => this.#start());
  }

  /** Ms that the profiler itself took since the last call: they are not the application's. */
  takeOwnMs(): number {
    const ms = this.#ownMs;
    this.#ownMs = 0;
    return ms;
  }

  /** Attributes the recording so far as well. */
  gather(): void {
    if (this.#spans.length > 0) this.#pieceOver();
  }

  /** Ends the profile, and the profiling. */
  stop(): void {
    this.#isOver = true;
    this.#measured(() => this.#end());
  }

  /** Returns the functions by time, longest first. */
  functions(): FunctionTime[] {
    return [...this.#times.values()].sort((a, b) => b.selfMs - a.selfMs);
  }

  #start(): void {
    try {
      const { Session } = builtin('node:inspector');
      const session = new Session();
      session.connect();
      session.post('Profiler.enable');
      session.post('Profiler.setSamplingInterval', { interval: samplingMicros });
      session.post('Profiler.start');
      this.#session = session;
      this.#pieces++;
      // At the end of its turn, when that is known to be a long one or not.
      const turnOver = () => {
        this.#turnOver = atTurnEnd(this.#pieceOver).unref();
      };
      this.#timer = setTimeout(turnOver, this.#pieceMs).unref();
      this.#pieceMs = Math.min(longestPieceMs, 2 * this.#pieceMs);
    } catch {
      // This Node.js has no inspector.
      this.#isOver = true;
    }
  }

  readonly #pieceOver = (): void => {
    const isBlocked = this.#spans.length > 0;
    this.#measured(() => {
      this.#end();
      if (this.attributedMs >= enoughMs || this.#pieces >= mostPieces) this.#isOver = true;
      if (isBlocked && !this.#isOver) this.#start();
    });
  };

  #end(): void {
    const session = this.#session;
    if (session === null) return;
    clearTimeout(this.#timer);
    clearImmediate(this.#turnOver);
    this.#session = null;
    const spans = this.#spans;
    this.#spans = [];
    const at = now();
    // In this thread the answer comes before post() returns.
    session.post('Profiler.stop', (error, result) => {
      if (error !== null || spans.length === 0) return;
      const { profile } = result;
      const offsetMs = at - profile.endTime / 1000;
      this.attributedMs += attribute(profile, spans, offsetMs, this.#times);
    });
    session.disconnect();
  }

  #measured(work: () => void): void {
    const at = now();
    work();
    this.#ownMs += now() - at;
  }
}

/**
 * Adds to `times` what the samples inside of `spans` say. `offsetMs` is added to the profile's times for those of the spans. Returns the ms
 * that were attributed.
 */
export function attribute(
  profile: V8.Profile,
  spans: readonly Span[],
  offsetMs: number,
  times: FunctionTimes,
): number {
  const { samples = [], timeDeltas = [] } = profile;
  const stackOf = stacks(profile.nodes);
  let at = profile.startTime;
  let next = 0;
  let sum = 0;
  for (let i = 0; i < samples.length; i++) {
    at += timeDeltas[i] ?? 0;
    // A sample is good until the next one.
    const from = at / 1000 + offsetMs;
    const to = (i + 1 < samples.length ? at + timeDeltas[i + 1]! : profile.endTime) / 1000;
    while (next < spans.length && spans[next]![1] <= from) next++;
    if (next === spans.length) break;
    const [spanFrom, spanTo, share] = spans[next]!;
    const ms = (Math.min(to + offsetMs, spanTo) - Math.max(from, spanFrom)) * share;
    if (ms <= 0) continue;
    const { functions, builtin } = stackOf(samples[i]!);
    if (functions.length === 0) continue;
    sum += ms;
    charge(times, functions, builtin, ms);
  }
  return sum;
}

/** Stack of a sample. */
interface Stack {
  /** Functions of the application, the innermost first, or the one that stands for native code. */
  readonly functions: readonly ProfileNode[];
  /** Name of the built-in function that the innermost one has called; null if it runs itself. */
  readonly builtin: string | null;
}

const nothing: Stack = { functions: [], builtin: null };

function stacks(nodes: readonly ProfileNode[]): (id: number) => Stack {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map<number, ProfileNode>();
  for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node);
  const known = new Map<number, Stack>();
  const make = (id: number): Stack => {
    const leaf = byId.get(id);
    if (leaf === undefined || idle.includes(leaf.callFrame.functionName)) return nothing;
    const functions: ProfileNode[] = [];
    let builtin: string | null = null;
    for (let node: ProfileNode | undefined = leaf; node; node = parents.get(node.id)) {
      const { url, functionName } = node.callFrame;
      if (url === thisFile) return nothing;
      if (isApplication(url)) functions.push(node);
      else if (functions.length === 0 && functionName !== '') builtin = functionName;
    }
    return functions.length > 0 ? { functions, builtin } : { functions: [leaf], builtin: null };
  };
  return (id) => {
    let stack = known.get(id);
    if (stack === undefined) {
      stack = make(id);
      known.set(id, stack);
    }
    return stack;
  };
}

function isApplication(url: string): boolean {
  return url !== '' && !url.startsWith('node:') && !codeOfOurs.some((href) => url.startsWith(href));
}

function charge(
  times: FunctionTimes,
  functions: readonly ProfileNode[],
  builtin: string | null,
  ms: number,
): void {
  const seen = new Set<FunctionTime>();
  for (const node of functions) {
    const time = timeOf(times, node);
    if (time === null || seen.has(time)) continue;
    // A function that calls itself is counted once.
    if (seen.size === 0) {
      time.selfMs += ms;
      if (builtin !== null) chargeBuiltin(time.builtins, builtin, ms);
    }
    seen.add(time);
    time.totalMs += ms;
  }
}

function chargeBuiltin(builtins: FunctionTime['builtins'], name: string, ms: number): void {
  if (!Object.hasOwn(builtins, name) && Object.keys(builtins).length >= mostBuiltins) return;
  builtins[name] = (builtins[name] ?? 0) + ms;
}

function timeOf(times: FunctionTimes, { callFrame }: ProfileNode): FunctionTime | null {
  const { functionName, url, lineNumber } = callFrame;
  const key = `${functionName} ${url}:${lineNumber}`;
  let time = times.get(key);
  if (time === undefined) {
    if (times.size >= mostFunctions) return null;
    const name = names[functionName] ?? (functionName || '(anonymous)');
    const file = url === '' ? null : pathOf(url);
    // The module itself is before the first line.
    const line = file === null ? null : Math.max(1, lineNumber + 1);
    time = { name, file, line, selfMs: 0, totalMs: 0, builtins: Object.create(null) };
    times.set(key, time);
  }
  return time;
}

function pathOf(url: string): string {
  try {
    return url.startsWith('file:') ? fileURLToPath(url) : url;
  } catch {
    return url;
  }
}
