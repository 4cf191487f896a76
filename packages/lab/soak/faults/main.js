/** `make soak`: the soak with faults, its page, its samples. `--help` lists the options. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LabError } from '../../load/errors.js';
import { fail } from '../../run/command.js';
import { readSoakArgs, USAGE } from './args.js';
import { progressLine } from './progress.js';

const RESULTS = fileURLToPath(new URL('../../results/', import.meta.url));

let options;
try {
  options = readSoakArgs(process.argv.slice(2));
  if (options.help) console.log(USAGE);
  else process.exitCode = await soak(options);
} catch (error) {
  fail('node packages/lab/soak/faults/main.js', error);
}

/** @returns {Promise<number>} the exit code */
async function soak({ seconds, every, seed, markdown }) {
  // Loaded late: the charts take longer to load than the options to read.
  const [{ soakResult }, { page }, { document }] = await Promise.all([
    import('./result.js'),
    import('./page.js'),
    import('./document.js'),
  ]);
  const folder = join(RESULTS, `soak-${new Date().toISOString().replaceAll(':', '-')}`);
  mkdirSync(folder, { recursive: true });
  const samples = join(folder, 'samples.jsonl');
  console.log(`${seconds} s, a fault every ${every} s, seed ${seed}; samples in ${samples}`);
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => end.abort(new LabError('MILLRACE_LAB_E_STOPPED', 'stopped')));
  }
  const result = await soakResult({
    ...{ seconds, every, seed, signal: end.signal },
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
