/** Which functions of a CPU profile ran in given spans of time. Pure. */
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installed } from '@millrace/base/installed';
import { thisPackage } from '../../package.cjs';

/** A function that ran in blocked turns. */
export interface FunctionTime {
  name: string;
  /** Path of its file, null for what has none: garbage collection, native code. */
  file: string | null;
  line: number | null;
  /** Time in it, in ms, including built-in functions of JavaScript and Node.js that it called. */
  selfMs: number;
  /** Time in it and in all that it called, in ms. */
  totalMs: number;
}

/** In ms, on one clock; `share` of it was the thread's own time on a CPU. */
export type Span = readonly [from: number, to: number, share: number];

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

/** As the inspector gives it; times in µs. */
export interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly endTime: number;
  readonly samples?: readonly number[];
  readonly timeDeltas?: readonly number[];
}

export type FunctionTimes = Map<string, FunctionTime>;

/** Functions that are told apart. */
const mostFunctions = 1000;

/** The observer itself is left out. */
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
const profiler = `${millrace}tools/observe/profiler.js`;

/** Nothing that keeps a loop busy. */
const idle = ['(idle)', '(root)'];
const names: Record<string, string> = {
  '(program)': '(native code)',
  '(garbage collector)': '(garbage collection)',
};

/**
 * Adds to `times` what the samples inside of `spans` say. `offsetMs` is added to the profile's times for those of the spans. Returns the ms
 * that were attributed.
 */
export function attribute(
  profile: Profile,
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
    const stack = stackOf(samples[i]!);
    if (stack.length === 0) continue;
    sum += ms;
    charge(times, stack, ms);
  }
  return sum;
}

/** The functions of a sample that are the application's, the innermost first, or the one that stands for native code. */
function stacks(nodes: readonly ProfileNode[]): (id: number) => readonly ProfileNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map<number, ProfileNode>();
  for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node);
  const known = new Map<number, readonly ProfileNode[]>();
  const make = (id: number): readonly ProfileNode[] => {
    const leaf = byId.get(id);
    if (leaf === undefined || idle.includes(leaf.callFrame.functionName)) return [];
    const stack: ProfileNode[] = [];
    for (let node: ProfileNode | undefined = leaf; node; node = parents.get(node.id)) {
      const { url } = node.callFrame;
      if (url === profiler) return [];
      if (isApplication(url)) stack.push(node);
    }
    return stack.length > 0 ? stack : [leaf];
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

function charge(times: FunctionTimes, stack: readonly ProfileNode[], ms: number): void {
  const seen = new Set<FunctionTime>();
  for (const node of stack) {
    const time = timeOf(times, node);
    if (time === null || seen.has(time)) continue;
    // A function that calls itself is counted once.
    if (seen.size === 0) time.selfMs += ms;
    seen.add(time);
    time.totalMs += ms;
  }
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
    time = { name, file, line, selfMs: 0, totalMs: 0 };
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
