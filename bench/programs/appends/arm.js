/** Arm of one round: `node arm.js SUBJECT AT_ONCE durable|buffered FOLDER` sends appends a second and CPU time an append. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { refused, subjects } from './subjects.js';

const [subject, callers, kind, folder] = process.argv.slice(2);
const [atOnce, durable] = [Number(callers), kind === 'durable'];
const recordBytes = 100;
const [warmupMs, measuredMs] = [200, 600];
const path = join(folder, `log-${process.pid}`);
const append = await subjects[subject](path, durable);
let count = 0;

const record = (number) => Buffer.from(`${number} `.padEnd(recordBytes - 1, '.').concat('\n'));

async function runFor(ms) {
  const end = performance.now() + ms;
  do {
    const records = Array.from({ length: atOnce }, () => record(count++));
    await Promise.all(records.map(append));
  } while (performance.now() < end);
}

/** Null, or how the file is not what was appended: each record once. */
function fault() {
  const lines = readFileSync(path, 'latin1').split('\n');
  lines.pop();
  if (lines.length !== count) return `the file has ${lines.length} of ${count} records`;
  const seen = new Set(lines.map(Number.parseFloat));
  if (seen.size !== count) return `the file has ${seen.size} different records of ${count}`;
  return null;
}

await runFor(warmupMs);
const before = count;
const [start, cpu] = [performance.now(), process.cpuUsage()];
await runFor(measuredMs);
const ms = performance.now() - start;
const { user, system } = process.cpuUsage(cpu);
const appends = count - before;
const wrong = fault() ?? (subject === 'millrace' ? await refused(count, atOnce) : null);
rmSync(path);
process.send(
  { appends_per_s: (appends / ms) * 1000, cpu_us_per_append: (user + system) / appends, wrong },
  () => process.exit(),
);
