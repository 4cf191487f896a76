#!/usr/bin/env node
/** `make experiment`: one question, two arms, a table. `--help` lists the options. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../load/errors.js';
import { Cleanup } from '../run/cleanup.js';
import { figure as number } from '../run/figures.js';
import { readArgs, USAGE } from './args.js';
import { experimentNames, loadExperiment } from './files.js';
import { jsonLines, keep } from './results.js';
import { runExperiment } from './run.js';
import { introduction, table } from './table.js';

const SIGNAL_MS = 250;

/** Cores that other work took, from which on it is worth a warning. */
const NOISY = 0.1;

const cleanup = new Cleanup();
let options;
try {
  options = readArgs(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
if (options.help) {
  console.log(USAGE);
  process.exit(0);
}

cleanup.watch(tell);
try {
  if (options.name === undefined) await list();
  else await run();
  await cleanup.exit(0);
} catch (error) {
  // Ctrl-C goes to the whole group: a server may be seen to end before the signal is seen here.
  await sleep(SIGNAL_MS);
  if (!cleanup.signal.aborted) {
    tell(error);
    await cleanup.exit(1);
  }
}

async function list() {
  const names = experimentNames();
  const width = Math.max(...names.map(({ length }) => length));
  for (const name of names) {
    console.log(`${name.padEnd(width)}  ${(await loadExperiment(name)).question}`);
  }
}

async function run() {
  const { name, quick, rounds, seed, json, results: folder } = options;
  const out = json ? process.stderr : process.stdout;
  const say = (line) => out.write(`${line}\n`);
  const experiment = await loadExperiment(name);
  say(`${introduction(experiment)}\n`);
  const results = await runExperiment(experiment, {
    ...{ quick, rounds, seed, cleanup },
    onRun: (step) => say(progressLine(step, experiment.metrics[0])),
  });
  if (json) for (const line of jsonLines(results)) console.log(line);
  say(`\n${table(experiment, results, out)}\n`);
  const { host, seconds, runs } = results;
  const resent = runs.flatMap(({ answers }) => answers).filter(({ isResent }) => isResent);
  if (resent.length > 0) {
    say(`${resent.length} requests were sent twice: their connections were closed unread.`);
  }
  const others = othersCores(results);
  if (others > NOISY) {
    say(`Other work took ${number(others)} of ${host.cores} cores meanwhile: expect noise.`);
  }
  say(
    `${host.cpu}, ${host.cores} cores, ${host.kernel}, Node ${host.node}; seed ${seed}, ${seconds.toFixed(0)} s`,
  );
  say(`raw samples: ${keep(results, folder)}`);
}

/** On average, while the arms were measured. */
function othersCores({ runs }) {
  const sum = (of) => runs.reduce((total, { costs }) => total + of(costs), 0);
  return sum(({ othersS }) => othersS) / sum(({ wallS }) => wallS);
}

function progressLine({ step, steps, side, case: label, round, metrics }, first) {
  const head = `[${step}/${steps}]`.padStart(8);
  const value = metrics[first.name];
  const shown = value === null ? '' : `${first.title} ${number(value)} ${first.unit}`;
  return `${head} ${label} round ${round}, ${side.padEnd(10)} ${shown}`.trimEnd();
}

function tell(error) {
  console.error(error instanceof LabError ? `Failed: ${error.message}.` : error.stack);
}
