/** File operations, some at a time, again and again: `program.js ARM JSON`, see lib/program.js. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { latencyOf, measured, print, readArguments } from '../lib/program.js';
import { appends } from './appends.js';
import { reads } from './reads.js';

const WARMUP_MS = 150;
const MEASURED_MS = { quick: 300, medium: 500, paper: 1000 };

const { arm, params } = readArguments();
const folder = mkdtempSync(join(tmpdir(), 'millrace-files-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const files = await import(arm === 'millrace' ? 'millrace/fs' : 'node:fs/promises');
const { burst, payload, faults } = await { reads, appends }[params.operation](
  files,
  params,
  folder,
);

/** @returns {Promise<number[]>} how long each burst took, ms */
async function runFor(ms) {
  const times = [];
  for (let now = performance.now(), end = now + ms; now < end; ) {
    await burst();
    const after = performance.now();
    times.push(after - now);
    now = after;
  }
  return times;
}

await runFor(WARMUP_MS);
const ms = MEASURED_MS[params.size];
const { result: bursts, seconds, cpuS } = await measured(() => runFor(ms));
const answers = bursts.length * params.atOnce;
const counted = files.stats?.() ?? null;
print({
  values: { answers, answers_per_s: answers / seconds, cpu_us_per_file: (cpuS * 1e6) / answers },
  work: [{ name: params.operation, answers, bytes: params.bytes, payload: await payload() }],
  isClosed: true,
  latency: latencyOf(bursts),
  faults: faults(counted),
  counted,
});
