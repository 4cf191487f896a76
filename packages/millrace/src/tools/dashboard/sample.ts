/**
 * Sample: the report of a process or thread to the dashboard. A {@link Sampler} takes it, and does nothing unless it is asked. Data from
 * another process is checked first, since that may be of another version: `processOf`, `featuresOf` and `sampleOf`
 * return null for invalid data.
 */
import { basename } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import { countsIdleTime } from '@millrace/base/loop-clock';
import { performance, setTimeout, wallClock } from '@millrace/base/timers';
import { monitor, responses } from '@millrace/monitor';
import { collect, type Point, runtime } from '@millrace/monitor/metrics';
import { presentWatch, type Stall } from '@millrace/monitor/stalls';
import { formatReport } from '../observe/format.js';
import type { Report } from '../observe/report.js';

/** Interval of the report in ms: people read it, and it costs more than counters. */
const reportEveryMs = 5000;

/** Time in ms for which the loop is monitored after the last sample: Prometheus scrapes every half a minute or so. */
const keepWatchingMs = 60_000;

const mostPoints = 5000;
const mostFeatures = 32;
/** Stalls in a sample. */
const mostStalls = 10;

/** Role of a process in an application: the one that serves the dashboard, a child, a cluster worker, a thread. */
export type Role = 'main' | 'worker' | 'cluster' | 'thread';

/** A process or thread. */
export interface ProcessInfo {
  /** `PID`, or `PID/THREAD` for a worker thread. */
  readonly id: string;
  readonly pid: number;
  readonly thread: number;
  readonly role: Role;
  /** Name of the script it runs. */
  readonly title: string;
}

/** Feature of a process, as the page shows it. */
export interface FeatureInfo {
  readonly name: string;
  /** State of the feature. `waiting`: on, but nothing to act on so far. */
  readonly state: 'off' | 'waiting' | 'active';
  /** Reason why it cannot act here; null if it can. */
  readonly why: string | null;
}

/** A feature that can be switched at run time, such as those of `millrace/auto`. */
export interface SwitchableFeature extends FeatureInfo {
  on(): void;
  off(): void;
}

/** Part of a stall that the page shows. */
type ShownStall = Pick<
  Stall,
  'id' | 'startedAt' | 'duration' | 'state' | 'systemCall' | 'at' | 'builtin' | 'caller' | 'seen'
>;

/** Watch of a process. */
interface WatchInfo {
  /** Port on this machine that answers while the process is blocked; null without one. */
  readonly port: number | null;
  /** The last stalls that are over, oldest first. */
  readonly recent: readonly ShownStall[];
}

export interface Sample {
  readonly type: 'sample';
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly process: ProcessInfo;
  readonly points: readonly Point[];
  readonly features: readonly FeatureInfo[];
  /** Report of observe mode, if it runs, with its text as `text`. */
  readonly observe?: object;
  /** Watch of the process, if there is one. */
  readonly watch?: WatchInfo;
}

/** `PID`, or `PID/THREAD` for a worker thread. */
const nameOf = (pid: number, thread: number): string =>
  thread === 0 ? `${pid}` : `${pid}/${thread}`;

/** Describes this thread, with its name in the dashboard. */
export function thisProcess(role: Role): ProcessInfo {
  const thread = isMainThread ? 0 : threadId;
  return {
    id: nameOf(process.pid, thread),
    pid: process.pid,
    thread,
    role,
    title: basename(process.argv[1] ?? process.title).slice(0, 100),
  };
}

/** Content that a dashboard shows of this thread beside its metrics. */
export interface Shown {
  /** Features that the page can switch on and off, by name; `millrace/auto` gives its own. Default: none. */
  readonly features?: Readonly<Record<string, SwitchableFeature>>;
  /** The report of observe mode, for the page. Default: none. */
  readonly report?: () => Report;
}

/** Takes samples of this thread, and switches its features. */
export class Sampler {
  readonly #features: Readonly<Record<string, SwitchableFeature>>;
  readonly #report: (() => Report) | undefined;
  #observed: object | undefined;
  #observedMs = Number.NEGATIVE_INFINITY;
  #endWatch: NodeJS.Timeout | undefined;

  constructor(
    readonly process: ProcessInfo,
    { features = {}, report }: Shown = {},
  ) {
    this.#features = features;
    this.#report = report;
  }

  /** Takes a sample. Costs a read of each counter: well below a millisecond. */
  sample(): Sample {
    const observe = this.#observe();
    const watch = watchInfo();
    const counted = collect();
    this.#keepWatching(counted.some(({ name }) => name === 'loop_utilization'));
    return {
      type: 'sample',
      at: wallClock.now(),
      process: this.process,
      // Values that JSON cannot represent as numbers are omitted.
      points: [...counted, ...runtime()].filter(({ value }) => Number.isFinite(value)),
      features: this.features(),
      ...(observe === undefined ? {} : { observe }),
      ...(watch === null ? {} : { watch }),
    };
  }

  /**
   * Monitors the loop and counts responses, the figures that people look at first, for as long as samples are taken. Creates a monitor of
   * the loop if there is none.
   */
  #keepWatching(isMonitored: boolean) {
    if (this.#endWatch !== undefined) {
      this.#endWatch.refresh();
      return;
    }
    const watches = isMonitored || !countsIdleTime ? [responses()] : [responses(), monitor()];
    this.#endWatch = setTimeout(() => {
      this.#endWatch = undefined;
      for (const watch of watches) watch.stop();
    }, keepWatchingMs).unref();
  }

  /** Returns the report and its text, at most a few seconds old. */
  #observe(): object | undefined {
    const now = performance.now();
    if (this.#report === undefined || now - this.#observedMs < reportEveryMs) return this.#observed;
    this.#observedMs = now;
    const report = this.#report();
    this.#observed = { ...report, text: formatReport(report) };
    return this.#observed;
  }

  features(): FeatureInfo[] {
    return Object.values(this.#features).map(({ name, state, why }) => ({ name, state, why }));
  }

  /** Switches a feature. Throws when there is no such feature here; passes on errors of the feature itself. */
  switch(name: string, on: boolean): FeatureInfo[] {
    const feature = Object.hasOwn(this.#features, name) ? this.#features[name] : undefined;
    if (feature === undefined) throw new Error(`process ${this.process.id} has no such feature`);
    if (on) feature.on();
    else feature.off();
    return this.features();
  }
}

/** Returns what the page needs of the watch of this process; null without one. */
function watchInfo(): WatchInfo | null {
  const watch = presentWatch();
  if (watch === null) return null;
  return {
    port: watch.address?.port ?? null,
    recent: watch.recent().slice(-mostStalls).map(shownStall),
  };
}

const shownStall = (stall: Stall): ShownStall => {
  const { id, startedAt, duration, state, systemCall, at, builtin, caller, seen } = stall;
  return { id, startedAt, duration, state, systemCall, at, builtin, caller, seen };
};

const roles: readonly unknown[] = ['main', 'worker', 'cluster', 'thread'] satisfies Role[];
const states: readonly unknown[] = ['off', 'waiting', 'active'] satisfies FeatureInfo['state'][];

/** Reports whether a value is an object of JSON. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most;

/** Characters that could disguise a text: line feeds, characters that reverse the direction, and the like. */
const unseen = /\p{C}/gu;

export function processOf(value: unknown): ProcessInfo | null {
  if (!isRecord(value)) return null;
  const { id, pid, thread, role, title } = value;
  const good =
    Number.isSafeInteger(pid) &&
    (pid as number) > 0 &&
    Number.isSafeInteger(thread) &&
    id === nameOf(pid as number, thread as number) &&
    roles.includes(role) &&
    isText(title, 100);
  if (!good) return null;
  return { id, pid, thread, role, title: title.replaceAll(unseen, '\ufffd') } as ProcessInfo;
}

export function featuresOf(value: unknown): FeatureInfo[] | null {
  if (!Array.isArray(value) || value.length > mostFeatures) return null;
  const features = value.map((feature) => {
    if (!isRecord(feature)) return null;
    const { name, state, why } = feature;
    const good = isText(name, 40) && states.includes(state) && (why === null || isText(why, 500));
    return good ? ({ name, state, why } as FeatureInfo) : null;
  });
  return features.includes(null) ? null : (features as FeatureInfo[]);
}

export function sampleOf(value: Record<string, unknown>, process: ProcessInfo): Sample | null {
  const { at, points, observe } = value;
  const watch = value.watch === undefined ? undefined : watchOf(value.watch);
  if (watch === null) return null;
  const features = featuresOf(value.features);
  if (features === null || typeof at !== 'number' || !Number.isFinite(at)) return null;
  if (!Array.isArray(points) || points.length > mostPoints || !points.every(isPoint)) return null;
  return {
    type: 'sample',
    at,
    process,
    points,
    features,
    ...(isRecord(observe) ? { observe } : {}),
    ...(watch === undefined ? {} : { watch }),
  };
}

const isPort = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) <= 65_535;

function watchOf(value: unknown): WatchInfo | null {
  if (!isRecord(value) || !(value.port === null || isPort(value.port))) return null;
  if (!Array.isArray(value.recent) || value.recent.length > mostStalls) return null;
  const recent = value.recent.map(stallOf);
  return recent.includes(null) ? null : { port: value.port, recent: recent as ShownStall[] };
}

const isTextOrNull = (value: unknown): value is string | null =>
  value === null || isText(value, 1000);

function stallOf(value: unknown): ShownStall | null {
  if (!isRecord(value)) return null;
  const { id, startedAt, duration, state, systemCall, builtin, seen } = value;
  const [at, caller] = [value.at, value.caller].map(frameOf);
  const good =
    [id, startedAt, duration].every(Number.isFinite) &&
    isText(state, 40) &&
    [systemCall, builtin, seen].every(isTextOrNull);
  if (!good || at === undefined || caller === undefined) return null;
  return { id, startedAt, duration, state, systemCall, at, builtin, caller, seen } as ShownStall;
}

/** Returns a line of a stack; undefined if it is none. */
function frameOf(value: unknown): Stall['at'] | undefined {
  if (value === null) return null;
  if (!isRecord(value)) return undefined;
  const { function: name, file, line, column } = value;
  const good = isText(name, 1000) && isText(file, 5000) && [line, column].every(Number.isFinite);
  return good ? ({ function: name, file, line, column } as Stall['at']) : undefined;
}

function isPoint(value: unknown): value is Point {
  if (!isRecord(value) || !isText(value.name, 100) || !/^[a-z][a-z0-9_]*$/.test(value.name)) {
    return false;
  }
  return (
    typeof value.value === 'number' &&
    isRecord(value.labels) &&
    Object.entries(value.labels).every(
      ([name, label]) => /^[a-z][a-z_]{0,39}$/.test(name) && isText(label, 100),
    )
  );
}
