/** Output for when nothing asynchronous can be done any more. */
import fs from 'node:fs';
import { parse } from 'node:path';
import { builtin } from '@millrace/base/realm';
import type { Report } from './report.js';

// As Node.js has them: an application may replace them.
const { writeFileSync, writeSync } = fs;

/** The reader of stderr may be slow; nobody waits for it for long. */
const mostTries = 1000;

/** To stderr, synchronously. Whether all of it was written. */
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
