/**
 * Reports of processes that cannot report at their end, as after SIGKILL or a crash. `millrace observe` names a folder; each thread keeps its
 * report so far in a file there, and removes it when it has reported itself. What is left in the end is reported from there.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { now } from '@millrace/base/loop-clock';
import { sampler, type Watcher } from '@millrace/base/loop-sampler';
import { clearTimeout, setTimeout, wallClock } from '@millrace/base/timers';
import type { Report } from './report.js';

// As Node.js has them: an application may replace them.
const { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = fs;

/** A report in a file. */
export interface KeptReport {
  readonly report: Report;
  /** Path of a file that it was to be written to as JSON; null for the text. */
  readonly json: string | null;
  /** Age in ms. */
  readonly ageMs: number;
}

/** Source of the reports of a thread. */
interface Seen {
  /** The report so far. */
  report(): Report;
  /** Grows with whatever was seen, at next to no cost. */
  count(): number;
}

/** Time between two of them. */
const everyMs = 1000;

export class Keeper implements Watcher {
  readonly probeMs = everyMs;
  readonly overLimit = false;
  readonly #path: string;
  readonly #json: string | null;
  readonly #seen: Seen;
  #timer: NodeJS.Timeout | undefined;
  #count = -1;
  #at = Number.NEGATIVE_INFINITY;

  constructor(folder: string, name: string, json: string | null, seen: Seen) {
    this.#path = join(folder, `${name}.json`);
    this.#json = json;
    this.#seen = seen;
  }

  start(): void {
    this.#keep();
    sampler.add(this);
  }

  /** Nothing is left to report. */
  remove(): void {
    this.stop();
    rmSync(this.#path, { force: true });
  }

  /** Keeps no more reports; the last one stays in its file. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    sampler.remove(this);
  }

  peek(): void {}

  /** In a turn that comes anyway; the last thing that was seen before the loop sleeps takes a timer. */
  turn(_busyMs: number, at: number): void {
    if (at - this.#at >= everyMs) {
      this.#keep();
    } else if (this.#timer === undefined && this.#seen.count() !== this.#count) {
      this.#timer = setTimeout(this.#keep, everyMs).unref();
    }
  }

  readonly #keep = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#at = now();
    this.#count = this.#seen.count();
    this.write(this.#seen.report());
  };

  /** The file has all of one report or of the one before it, whenever the process ends. */
  write(report: Report): void {
    try {
      writeFileSync(`${this.#path}.new`, JSON.stringify({ json: this.#json, report }));
      renameSync(`${this.#path}.new`, this.#path);
    } catch {
      // The application goes on without.
    }
  }
}

/** The reports that are left in a folder, of processes that have ended. One that is alive will report itself. */
export function keptIn(folder: string): KeptReport[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => read(join(folder, name)))
    .filter((each) => each !== null)
    .filter(({ report }) => !isAlive(report.application.pid));
}

function read(path: string): KeptReport | null {
  try {
    const { json, report } = JSON.parse(readFileSync(path, 'utf8'));
    return { json, report, ageMs: Math.max(0, wallClock.now() - statSync(path).mtimeMs) };
  } catch {
    // It has reported meanwhile.
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
