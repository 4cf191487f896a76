import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../load/errors.js';
import { Cleanup } from '../run/cleanup.js';
import { figure as number } from '../run/figures.js';
import { adviceOf, experimentOf } from './adhoc.js';
import { readArgs } from './args.js';
import { experimentNames, loadExperiment } from './files.js';
import { leakNotes } from './leaks.js';
import { loads } from './loads/index.js';
import { USAGE } from './options.js';
import { Runs } from './progress.js';
import { jsonLines, keep } from './results.js';
import { runExperiment } from './run.js';
import { introduction, table } from './table.js';

const SIGNAL_MS = 250;
const STOPPED = 130;

/** Cores that other work took, from which on it is worth a warning. */
const NOISY = 0.1;

/** Where raw samples are kept by whom the lab is installed; in its own working copy it has a folder for them. */
const OWN_RESULTS = import.meta.url.includes('/node_modules/') ? 'millrace-results' : undefined;

/**
 * The command `experiment`: runs one, shows and keeps what it has found, and ends the process.
 *
 * @param {string[]} argv
 * @returns {Promise<never>}
 */
export async function experimentCommand(argv) {
  const cleanup = new Cleanup();
  let options;
  try {
    options = readArgs(argv);
  } catch (error) {
    console.error(error.message);
    return process.exit(2);
  }
  if (options.help) {
    console.log(USAGE);
    return process.exit(0);
  }
  cleanup.watch(tell, (code) => {
    // The first Ctrl-C ends the measuring, the second the program.
    if (code === STOPPED && !cleanup.signal.aborted) cleanup.stop();
    else cleanup.exit(code);
  });
  try {
    const isList = options.name === undefined && options.control === undefined;
    return await cleanup.exit(isList ? await list() : await run(options, cleanup));
  } catch (error) {
    // Ctrl-C goes to the whole group: a generator may be seen to end before the signal is seen here.
    await sleep(SIGNAL_MS);
    if (cleanup.signal.aborted) {
      console.error('Stopped before the first round was whole: nothing is kept.');
      return cleanup.exit(STOPPED);
    }
    tell(error);
    return cleanup.exit(error.exitCode ?? 1);
  }
}

async function list() {
  const names = experimentNames();
  if (names.length === 0) console.log(USAGE);
  const width = Math.max(...names.map(({ length }) => length));
  for (const name of names) {
    console.log(`${name.padEnd(width)}  ${(await loadExperiment(name)).question}`);
  }
  return 0;
}

/** @returns {Promise<number>} the exit code */
async function run(options, cleanup) {
  const { name, quick, seed, json, samples, effect } = options;
  const out = json ? process.stderr : process.stdout;
  const say = (line) => out.write(`${line}\n`);
  const experiment =
    name === undefined ? await experimentOf(options) : changed(await loadExperiment(name), options);
  say(`${introduction(experiment)}\n`);
  const runs = new Runs({
    steps: stepsOf(experiment, options),
    metric: experiment.metrics[0],
    out,
  });
  cleanup.add(() => runs.end());
  let [results, failure] = [null, null];
  try {
    results = await runExperiment(experiment, {
      ...{ quick, seed, cleanup, rounds: samples },
      ...(effect !== undefined && { effect: 1 + effect / 100 }),
      onRun: (told) => runs.done(told),
    });
  } catch (error) {
    if (!error.results) throw error;
    [results, failure] = [error.results, error];
  }
  runs.end();
  results.notes.push(...leakNotes(results.runs));
  if (results.refusal && name === undefined) {
    results.refusal.advice = adviceOf(results.refusal, options);
  }
  if (json) for (const line of jsonLines(results)) console.log(line);
  if (results.refusal) tellRefusal(results.refusal);
  else say(`\n${table(experiment, results, out)}\n`);
  if (failure && !results.refusal) tell(failure);
  for (const line of circumstances(results)) say(line);
  const isWritten = await write(results, options, say);
  if (results.refusal) return 3;
  if (failure || !isWritten) return 1;
  return results.partial === null ? 0 : STOPPED;
}

/** A file's experiment with the times of the command line. */
function changed(experiment, options) {
  const changes = {};
  for (const key of ['seconds', 'connections']) {
    if (options[key] === undefined) continue;
    const { kind } = experiment.load;
    if (!Object.hasOwn(loads[kind].form, `${key}?`)) {
      const message = `--${key} does not go with ${experiment.name}: its load (${kind}) has no such key`;
      throw Object.assign(new LabError('MILLRACE_LAB_E_INVALID_OPTION', message), { exitCode: 2 });
    }
    changes[key] = options[key];
  }
  return { ...experiment, load: { ...experiment.load, ...changes } };
}

function stepsOf({ cases, treatments, rounds }, { quick, samples }) {
  const measured = cases.filter((each) => !quick || (each.quick ?? true)).length;
  return measured * (samples ?? rounds[quick ? 'quick' : 'full']) * (2 + treatments.length);
}

function tellRefusal({ why, advice }) {
  console.error(`\nRefused, so no figure counts: ${why}.\n${advice}.`);
}

function circumstances({ host, runs, seed, seconds, partial }) {
  const sum = (of) => runs.reduce((total, { costs }) => total + of(costs), 0);
  const others = sum(({ othersS }) => othersS) / sum(({ wallS }) => wallS);
  const resent = runs.flatMap(({ answers = [] }) => answers).filter(({ isResent }) => isResent);
  return [
    ...(partial === null ? [] : [`Partial: ${partial}.`]),
    ...(resent.length > 0
      ? [`${resent.length} requests were sent twice: their connections were closed unread.`]
      : []),
    ...(others > NOISY
      ? [`Other work took ${number(others)} of ${host.cores} cores meanwhile: expect noise.`]
      : []),
    `${host.cpu}, ${host.cores} cores, ${host.kernel}, Node ${host.node}; seed ${seed}, ${seconds.toFixed(0)} s`,
  ];
}

/** Raw samples and reports. @returns {Promise<boolean>} whether all was written */
async function write(results, { results: folder = OWN_RESULTS, html, markdown }, say) {
  let isWritten = true;
  const attempt = async (what, work) => {
    try {
      say(`${what}: ${await work()}`);
    } catch (error) {
      isWritten = false;
      console.error(`Failed: ${what} not written: ${error.message}`);
    }
  };
  await attempt('raw samples', () => keep(results, folder));
  for (const [what, path] of Object.entries({ html, markdown })) {
    if (path === undefined) continue;
    await attempt(`report (${what})`, async () => {
      const { writeReport } = await import('../report/index.js');
      await writeReport({ results, [what]: path });
      return join(path);
    });
  }
  return isWritten;
}

function tell(error) {
  console.error(error instanceof LabError ? `Failed: ${error.message}.` : error.stack);
}
