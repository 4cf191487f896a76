/** `make soak`: a soak, its page, its samples. `--help` lists the options. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { optionLines, UsageError } from '@millrace/base/command';
import { choice, fail, readOnlyOptions, text, whole } from '@millrace/lab/run';
import { PLANS } from './plan.js';

const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));

const OPTIONS = {
  plan: choice('NAME', Object.keys(PLANS), 'which service and which faults (faults)'),
  seconds: whole(60, 86_400, 'how long, 60 to 86400 (3600)'),
  every: whole(
    15,
    600,
    'seconds between faults, 15 to 600 (60; 15 in a soak of less than ten minutes)',
  ),
  seed: whole(0, 2 ** 32 - 2, 'of the order of the faults and their moments (1)'),
  markdown: text('FILE', 'writes a summary, such as docs/benchmarks/soak.md'),
};

const USAGE = `Usage: node examples/chat/soak/main.js [options]

${optionLines(OPTIONS)}

Exit codes: 0 no criterion refuted, 1 one is refuted, or the soak could not run,
2 bad option.`;

/** Below that, faults come faster, so that each kind has its turn. */
const SHORT_S = 600;

let options;
try {
  options = readSoakArgs(process.argv.slice(2));
  if (options.help) console.log(USAGE);
  else process.exitCode = await soak(options);
} catch (error) {
  if (error.name !== 'AbortError') fail('node examples/chat/soak/main.js', error);
  else {
    console.error('Stopped: nothing is judged.');
    process.exitCode = 1;
  }
}

/** @returns {Promise<number>} the exit code */
async function soak({ plan, seconds, every, seed, markdown }) {
  // Loaded late: the charts take longer to load than the options to read.
  const [{ soakResult }, { document, page }] = await Promise.all([
    import('./run.js'),
    import('./report.js'),
  ]);
  const folder = join(RESULTS, `soak-${new Date().toISOString().replaceAll(':', '-')}`);
  mkdirSync(folder, { recursive: true });
  const samples = join(folder, 'samples.jsonl');
  const planned = `plan ${plan}, ${seconds} s in cycles of ${every} s, seed ${seed}`;
  console.log(`${planned}; samples in ${samples}`);
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => end.abort());
  }
  const result = await soakResult({
    ...{ plan, seconds, every, seed, signal: end.signal },
    keep(record) {
      appendFileSync(samples, `${JSON.stringify(record)}\n`);
      if (record.type === 'cycle') console.log(progressLine(record, Math.floor(seconds / every)));
    },
  });
  const report = join(folder, 'report.html');
  writeFileSync(report, page(result));
  if (markdown !== undefined) writeFileSync(markdown, document(result));
  for (const { name, word, text, faults } of result.criteria) {
    console.log(`${word.padEnd(9)}  ${name}: ${text}`);
    for (const fault of faults.slice(0, 10)) console.log(`             ${fault}`);
  }
  console.log(`report: ${report}`);
  return result.word === 'refuted' ? 1 : 0;
}

/**
 * @param {string[]} argv
 * @returns {{ plan: keyof PLANS, seconds: number, every: number, seed: number, markdown: string | undefined, help: boolean }}
 * @throws {UsageError} one sentence: what is wrong, and what is allowed
 */
function readSoakArgs(argv) {
  const { plan = 'faults', seconds = 3600, seed = 1, ...given } = readOnlyOptions(argv, OPTIONS);
  const { every = seconds < SHORT_S ? 15 : 60 } = given;
  if (every > seconds) {
    throw new UsageError(`--every is ${every}; it must not be above --seconds, ${seconds}.`);
  }
  return { ...given, plan, seconds, every, seed };
}

/** The line that a cycle leaves on the terminal. */
function progressLine({ cycle, fault, wave, rest, acknowledged }, cycles) {
  const parts = [
    ...(fault ? [`${fault.title} (${fault.what ?? fault.failed})`, recovery(fault)] : []),
    `${acknowledged.toLocaleString('en-US')} acknowledged`,
    wave.failed === null
      ? `wave of ${wave.delivered.toLocaleString('en-US')} deliveries`
      : `wave FAILED: ${wave.failed}`,
    ...Object.entries(rest.vitals)
      .filter(([who]) => /^(primary|process 1)$/.test(who))
      .map(([who, { rss, heap }]) => `${who} ${mib(rss)}, heap ${mib(heap)} MiB`),
  ];
  const minutes = `${Math.floor(rest.atS / 60)}:${String(Math.floor(rest.atS % 60)).padStart(2, '0')}`;
  return `${minutes.padStart(6)}  ${cycle}/${cycles}  ${parts.join('; ')}`;
}

function recovery({ wholeAfterS }) {
  return wholeAfterS === null ? 'NOT whole' : `whole after ${wholeAfterS.toFixed(1)} s`;
}

function mib(bytes) {
  return (bytes / 2 ** 20).toFixed(1);
}
