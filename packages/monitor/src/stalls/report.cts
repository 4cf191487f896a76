/**
 * Logs stalls on stderr. The watchdog writes the lines itself and synchronously: `process.stderr` of a worker goes through the main thread,
 * which is blocked. Lines per minute are limited; the first line of the next minute reports the number of omitted stalls. An error of
 * stderr, such as a full disk or a closed pipe, loses the line and nothing else.
 */
import { builtin } from '@millrace/base/realm';
import { performance } from '@millrace/base/timers';
import type { Stall, StallFrame, WorkerStall } from './stall.cjs';

const { writeSync } = builtin('node:fs');
const stderr = 2;
const minuteMs = 60_000;

const words = {
  computing: 'computing',
  starved: 'without a CPU, which other threads have',
  parked: 'asleep',
  unknown: 'state unknown',
};

const placeOf = ({ function: name, file, line, column }: StallFrame): string =>
  `${name} (${file}:${line}:${column})`;

/** `1.3 s` */
const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;

/** Reasons of missing names. */
interface Obstacles {
  /** Reason why there are no samples; null if there are. */
  readonly why: string | null;
  /** True if the program listens for a debugger, so that it was not paused. */
  readonly isInspected: boolean;
}

/** Returns a sentence about a stall, without its end mark. */
export function summaryOf(stall: Omit<Stall, 'summary'>, obstacles: Obstacles): string {
  const { isOver, duration, systemCall } = stall;
  const length = isOver
    ? `was blocked for ${seconds(duration)}`
    : `blocked for ${seconds(duration)} so far`;
  const call = systemCall === null ? '' : ` in ${systemCall}`;
  return `event loop ${length}, ${words[stall.state]}${call}${functionOf(stall, obstacles)}`;
}

/** Returns a sentence about a stall of a worker thread. */
export function workerSummaryOf(stall: Omit<WorkerStall, 'summary'>): string {
  const { isOver, duration, state, systemCall, worker, task } = stall;
  const file = worker.file === null || task !== null ? '' : ` (${worker.file})`;
  const length = isOver
    ? `was blocked for ${seconds(duration)}`
    : `blocked for ${seconds(duration)} so far`;
  const call = systemCall === null ? '' : ` in ${systemCall}`;
  const place = functionOf(stall, { why: null, isInspected: false });
  return `worker thread ${worker.id}${file} ${length}, ${words[state]}${call}${taskOf(task)}${place}`;
}

function taskOf(task: WorkerStall['task']): string {
  if (task === null) return '';
  const usual = task.usual === null ? 'its first run' : `usually ${Math.round(task.usual)} ms`;
  return `, in the task ${task.name} of ${task.file} (${usual})`;
}

function functionOf(stall: Omit<Stall, 'summary'>, { why, isInspected }: Obstacles): string {
  const { at, builtin: called, caller, seen, samples, agreeing } = stall;
  if (at === null) {
    if (why !== null) return `; function unknown: ${why}`;
    if (samples === 0) return '; function unknown until native code returns';
    const unpaused = isInspected
      ? ', and it is not paused to find one, as it listens for a debugger (--inspect)'
      : '';
    return `; no function of the program is on the stack${unpaused}`;
  }
  const inside = called === null ? placeOf(at) : `${called} called from ${placeOf(at)}`;
  const outer = caller === null ? '' : `, called from ${placeOf(caller)}`;
  const grounds = `${agreeing} of ${samples} ${samples === 1 ? 'sample' : 'samples'}`;
  return seen === 'during'
    ? `: in ${inside}${outer} (${grounds})`
    : `: in native code called from ${placeOf(at)} or just before${outer} (${grounds}, taken when it returned)`;
}

const typeOf = (stall: Stall | WorkerStall): string =>
  'worker' in stall ? 'millrace.worker-stall' : 'millrace.stall';

export class Log {
  readonly #format: 'text' | 'json' | false;
  readonly #linesPerMinute: number;
  #minute = 0;
  #lines = 0;
  #omitted = 0;

  constructor(format: 'text' | 'json' | false, linesPerMinute: number) {
    this.#format = format;
    this.#linesPerMinute = linesPerMinute;
  }

  /** Writes a line about a stall. Returns false if the limit of the minute is reached. */
  stall(stall: Stall | WorkerStall): boolean {
    if (this.#format === false) return false;
    const minute = Math.floor(performance.now() / minuteMs);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#lines = 0;
    }
    if (this.#lines >= this.#linesPerMinute) {
      if (stall.isOver) this.#omitted++;
      return false;
    }
    this.#lines++;
    const omitted = this.#omitted;
    this.#omitted = 0;
    if (this.#format === 'json')
      this.#write(JSON.stringify({ type: typeOf(stall), omitted, ...stall }));
    else
      this.#write(
        `millrace: ${stall.summary}${omitted === 0 ? '' : `; ${omitted} more were not logged`}`,
      );
    return true;
  }

  /** Writes a fault of the watchdog itself. */
  fault(sentence: string): void {
    if (this.#format === 'json')
      this.#write(JSON.stringify({ type: 'millrace.fault', message: sentence }));
    else if (this.#format === 'text') this.#write(`millrace: ${sentence}`);
  }

  #write(line: string): void {
    try {
      writeSync(stderr, `${line}\n`);
    } catch {
      // stderr is full or closed, and there is no other place to report to.
    }
  }
}
