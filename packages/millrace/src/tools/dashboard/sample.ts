/** What a process reports to the dashboard, and what the dashboard may ask of it. */
import { basename } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import type { Point } from '@millrace/monitor/metrics';

/** Which part of an application a process is: the one that serves the dashboard, a child, a cluster worker, a thread. */
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

/** A feature of a process, as the page shows it. */
export interface FeatureInfo {
  readonly name: string;
  /** `waiting`: on, but nothing to act on so far. */
  readonly state: 'off' | 'waiting' | 'active';
  /** Why it cannot act here; null if it can. */
  readonly why: string | null;
}

/** A feature that can be switched at run time, such as those of `millrace/auto`. */
export interface SwitchableFeature extends FeatureInfo {
  on(): void;
  off(): void;
}

export interface Sample {
  readonly type: 'sample';
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly process: ProcessInfo;
  readonly points: readonly Point[];
  readonly features: readonly FeatureInfo[];
  /** The report of observe mode, where that runs, with its text as `text`. */
  readonly observe?: object;
}

/** `PID`, or `PID/THREAD` for a worker thread. */
export const nameOf = (pid: number, thread: number): string =>
  thread === 0 ? `${pid}` : `${pid}/${thread}`;

/** This thread as the dashboard names it. */
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
