/** Arm of one round: `node arm.js CASE SUBJECT FOLDER` sends files a second and CPU time a file. */

import { isRight, makeCold, pathOf } from './corpus.js';
import { parse } from './sizes.js';
import { refused, statsOf, subjects } from './subjects.js';

const [title, subject, folder] = process.argv.slice(2);
const { size, count, atOnce, state } = parse(title);
const [warmupMs, measuredMs, coldPasses] = [150, 300, 4];

const read = await subjects[subject]();
const paths = Array.from({ length: count }, (_, number) => pathOf(folder, size, number));
let next = 0;
let reads = 0;
let wrong = null;

async function burst(length) {
  const numbers = Array.from({ length }, () => next++ % count);
  const all = await Promise.all(numbers.map((number) => read(paths[number])));
  reads += length;
  for (let i = 0; i < length; i++) {
    if (!isRight(all[i], size, numbers[i]))
      wrong ??= `what was read of ${paths[numbers[i]]} is not its content`;
  }
}

async function runFor(ms) {
  const end = performance.now() + ms;
  do await burst(atOnce);
  while (performance.now() < end);
}

/** Every file once. */
async function pass() {
  for (let left = count; left > 0; left -= atOnce) await burst(Math.min(left, atOnce));
}

let ms = 0;
let cpu = 0;
let files = 0;

async function measure(run) {
  const [before, start, used] = [reads, performance.now(), process.cpuUsage()];
  await run();
  ms += performance.now() - start;
  const { user, system } = process.cpuUsage(used);
  cpu += user + system;
  files += reads - before;
}

if (state === 'warm') {
  await runFor(warmupMs);
  await measure(() => runFor(measuredMs));
} else {
  await runFor(warmupMs);
  next = 0;
  for (let i = 0; i < coldPasses; i++) {
    makeCold(folder, size);
    await measure(pass);
  }
}
if (subject === 'millrace') wrong ??= await refused(reads, (await statsOf(subject))());
process.send({ files_per_s: (files / ms) * 1000, cpu_us_per_file: cpu / files, wrong });
process.disconnect();
