import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Cleanup } from '../../run/cleanup.js';
import { readExperiment } from '../format.js';
import { runExperiment } from '../gather.js';
import { latencyMs } from '../metrics.js';

export const SERVER = fileURLToPath(new URL('./server.js', import.meta.url));

/** What an experiment's file exports: `/one`, which the treatment serves at `/one-fast`. */
export function moduleWith({ control = {}, treatment = {}, load = {}, ...others } = {}) {
  const arm = {
    command: [process.execPath, SERVER],
    isOn: ({ answers }) => answers.some(({ json }) => json?.isFast === 1),
  };
  return {
    question: 'Is it faster?',
    control: { ...arm, name: 'slow', ...control },
    treatment: Array.isArray(treatment)
      ? treatment
      : { ...arm, name: 'fast', routes: { '/one': '/one-fast' }, ...treatment },
    load: {
      kind: 'requests',
      requests: () => [{ name: 'one', path: '/one', payload: ({ value }) => value }],
      ...load,
    },
    metrics: [{ name: 'one_ms', title: 'one', unit: 'ms', better: 'lower', of: latencyMs('one') }],
    rounds: { quick: 1, paper: 2 },
    ...others,
  };
}

export const experimentWith = (changes) => readExperiment(moduleWith(changes), 'test');

const PROGRAM = `
  const [file, arm, isOn] = process.argv.slice(1);
  require('node:fs').appendFileSync(file, 'x');
  const values = { ms: arm === 'fast' ? 1 : 2 };
  console.log(JSON.stringify({ values, work: [{ name: 'task', answers: 1 }], isClosed: false, isOn: isOn === '1' }));
`;

/** An experiment of a program that writes one letter to a file for each run. */
export function countedExperiment(name, file, { isOn = true } = {}) {
  const arm = (which, on) => ({
    name: which,
    command: [process.execPath, '-e', PROGRAM, file, which, on ? '1' : '0'],
    isOn: ({ json }) => json.isOn,
  });
  const module = {
    question: `What of ${name}?`,
    control: arm('slow', false),
    treatment: arm('fast', isOn),
    load: { kind: 'program' },
    metrics: [
      { name: 'ms', title: 'ms', unit: 'ms', better: 'lower', of: ({ values }) => values.ms },
    ],
    claim: { text: 'Twice as fast', source: 'a book', metric: 'ms', atLeast: 2 },
    rounds: { quick: 1, paper: 2 },
  };
  return readExperiment(module, name);
}

/** Undoes everything when the test is over, however it ends. */
export function cleanupFor(t) {
  const cleanup = new Cleanup();
  t.after(() => cleanup.run());
  return cleanup;
}

export const run = (t, experiment, options) =>
  runExperiment(experiment, { seed: 1, cleanup: cleanupFor(t), ...options });

export function folderFor(t) {
  const folder = mkdtempSync(join(tmpdir(), 'experiment-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
