/**
 * Output of a report: on stderr or into a file, at the end of a process, when nothing asynchronous can be done any more. A
 * process that cannot report at its end, as after SIGKILL or a crash, has kept its report so far: `millrace observe` names a
 * folder; a {@link Keeper} of each thread writes a file there once a second, if anything was seen, and removes it when the
 * thread has reported. What is left in the end is read from there.
 */
import fs from 'node:fs';
import { join, parse } from 'node:path';
import { isatty } from 'node:tty';
import { now } from '@millrace/base/loop-clock';
import { sampler, type Watcher } from '@millrace/base/loop-sampler';
import { builtin } from '@millrace/base/realm';
import { isColoured } from '@millrace/base/text';
import { clearTimeout, setTimeout, wallClock } from '@millrace/base/timers';
import { formatReport } from './format.js';
import type { Report } from './report.js';

// As Node.js has them: an application may replace them.
const { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, writeSync } = fs;

/** The reader of stderr may be slow; nobody waits for it for long. */
const mostTries = 1000;

/** Time between two reports that are kept. */
const everyMs = 1000;

/** Properties of stderr, to be read at the start: an application may change or delete their sources before its end. */
export function terminal() {
  return { isTerminal: isatty(2), colour: isColoured(2) };
}

/** @returns whether all of it was written */
export function tell(report: Report, { isTerminal, colour }: ReturnType<typeof terminal>): boolean {
  // Not earlier: the stream is made when somebody asks for it.
  const width = isTerminal ? process.stderr.columns : undefined;
  return say(`\n${formatReport(report, width === undefined ? { colour } : { colour, width })}`);
}

/** Writes to stderr, synchronously. Returns whether all of it was written. */
export function say(text: string): boolean {
  let left = Buffer.from(text);
  for (let tries = 0; left.length > 0 && tries < mostTries; tries++) {
    try {
      left = left.subarray(writeSync(2, left));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
  return left.length === 0;
}

/** Writes the report to a file. Throws the error of the file system. */
export function writeJson(path: string, report: Report): void {
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
}

/** The main thread of the application has the path; threads and workers of a cluster have one of their own each. */
export function pathOf(path: string, { pid, thread }: Report['application']): string {
  const { isWorker } = builtin('node:cluster') as { isWorker?: boolean };
  if (thread === 0 && !isWorker) return path;
  const { dir, name, ext } = parse(path);
  const own = thread === 0 ? `${pid}` : `${pid}-${thread}`;
  return `${dir === '' ? '' : `${dir}/`}${name}.${own}${ext}`;
}

/** A report in a file. */
export interface KeptReport {
  readonly report: Report;
  /** Path of a file that it was to be written to as JSON; null for the text. */
  readonly json: string | null;
  /** Age in ms. */
  readonly ageMs: number;
}

export class Keeper implements Watcher {
  readonly probeMs = everyMs;
  readonly overLimit = false;
  #timer: NodeJS.Timeout | undefined;
  #count = -1;
  #at = Number.NEGATIVE_INFINITY;

  /** @param json path of a file that the report is to be written to; null for the text */
  constructor(
    private readonly path: string,
    private readonly json: string | null,
    private readonly observed: { briefReport(): Report; count(): number },
  ) {}

  start(): void {
    this.#keep();
    sampler.add(this);
  }

  /** Removes the file: nothing is left to report. */
  remove(): void {
    this.stop();
    rmSync(this.path, { force: true });
  }

  /** Keeps no more reports; the last one stays in its file. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    sampler.remove(this);
  }

  peek(): void {}

  /** Keeps the report in a turn that comes anyway; the last finding before the loop sleeps takes a timer. */
  turn(_busyMs: number, at: number): void {
    if (at - this.#at >= everyMs) {
      this.#keep();
    } else if (this.#timer === undefined && this.observed.count() !== this.#count) {
      this.#timer = setTimeout(this.#keep, everyMs).unref();
    }
  }

  readonly #keep = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#at = now();
    this.#count = this.observed.count();
    this.write(this.observed.briefReport());
  };

  /** The file has all of one report or of the one before it, whenever the process ends. */
  write(report: Report): void {
    try {
      writeFileSync(`${this.path}.new`, JSON.stringify({ json: this.json, report }));
      renameSync(`${this.path}.new`, this.path);
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
