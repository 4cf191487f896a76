/** Output for when nothing asynchronous can be done any more. */
import { writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parse } from 'node:path';
import type { Report } from './report.js';

const require = createRequire(import.meta.url);
/** The reader of stderr may be slow; nobody waits for it for long. */
const mostTries = 1000;

/** To stderr, synchronously. If it is closed, that is nobody's fault. */
export function say(text: string): void {
  let left = Buffer.from(text);
  for (let tries = 0; left.length > 0 && tries < mostTries; tries++) {
    try {
      left = left.subarray(writeSync(2, left));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** Writes the report, or says in one sentence why it cannot. */
export function writeJson(path: string, report: Report): void {
  const own = pathOf(path, report.application);
  try {
    writeFileSync(own, `${JSON.stringify(report, null, 2)}\n`);
  } catch (error) {
    say(`Millrace cannot write its report: ${(error as Error).message}.\n`);
  }
}

/** The main thread of the application has the path; threads and workers of a cluster have one of their own each. */
function pathOf(path: string, { pid, thread }: Report['application']): string {
  const { isWorker } = require('node:cluster') as { isWorker: boolean };
  if (thread === 0 && !isWorker) return path;
  const { dir, name, ext } = parse(path);
  const own = thread === 0 ? `${pid}` : `${pid}-${thread}`;
  return `${dir === '' ? '' : `${dir}/`}${name}.${own}${ext}`;
}
