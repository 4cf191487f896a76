import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../load/errors.js';
import { Cleanup, watchSignals } from '../run/cleanup.js';
import { codeOf, fail, tell } from '../run/command.js';
import { experimentOf } from './adhoc.js';
import { readExperimentArgs } from './args.js';
import { decides, FOUND, foundOf } from './fail-on.js';
import { loadExperiment, planLine } from './files.js';
import { runExperiment } from './gather.js';
import { journalOf } from './journal.js';
import { leakNotes } from './leaks.js';
import { loads } from './loads/index.js';
import { USAGE } from './options.js';
import { LARGEST, stepsOf } from './plan.js';
import { checkOutlets, jsonLines, keep } from './results.js';
import { circumstances, introduction, table } from './table.js';
import { Runs, wrap } from './terminal.js';

const SIGNAL_MS = 250;

/** Folder for raw samples, in the working directory. */
const RESULTS = 'millrace-results';

/**
 * The command `experiment`: runs one, shows and keeps what it has found, and ends the process.
 *
 * @param {string[]} argv
 * @param {string} [command] what it was called by
 * @returns {Promise<never>}
 */
export async function experimentCommand(argv, command = 'millrace experiment') {
  const cleanup = new Cleanup();
  let options;
  try {
    options = readExperimentArgs(argv);
    const { results, html, markdown, help } = options;
    if (!help) checkOutlets({ results, html, markdown });
  } catch (error) {
    fail(command, error);
    return process.exit();
  }
  const ended = watchSignals(cleanup, tell);
  if (options.help || (options.name === undefined && options.control === undefined)) {
    console.log(USAGE);
    return cleanup.exit(0);
  }
  try {
    return await cleanup.exit(await run(options, cleanup, ended));
  } catch (error) {
    // Ctrl-C goes to the whole group: a generator may be seen to end before the signal is seen here.
    await sleep(SIGNAL_MS);
    if (cleanup.signal.aborted) {
      console.error('Stopped before the first round was whole: nothing is kept.');
      return cleanup.exit(ended.code);
    }
    tell(error);
    return cleanup.exit(codeOf(error));
  }
}

/** What has to be run, and what to do if it is refused. */
async function wanted(options) {
  if (options.name === undefined) return experimentOf(options);
  const experiment = changed(await loadExperiment(options.name), options);
  return { experiment, adviceOf: ({ advice }) => advice };
}

/** @returns {Promise<number>} the exit code */
async function run(options, cleanup, ended) {
  const { size, json, samples, effect, forS, results: folder = RESULTS } = options;
  const out = json ? process.stderr : process.stdout;
  const say = (line) => out.write(`${line}\n`);
  const { experiment, adviceOf } = await wanted(options);
  checkFailOn(experiment, options);
  const plan = planLine([experiment], { size, rounds: samples });
  const isShort = size !== LARGEST || samples !== undefined;
  const hint = isShort ? '' : '; --size quick makes fewer and shorter ones';
  say(`${introduction(experiment, { size })}\n${plan}${hint}.\n`);
  const { journal, seed, hint: told } = journalOf(experiment, { ...options, folder });
  if (told) say(`${told}\n`);
  const runs = new Runs({
    steps: stepsOf(experiment, { size, rounds: samples }),
    before: journal?.runs,
    metric: experiment.metrics[0],
    out,
  });
  cleanup.add(() => runs.end());
  let [results, failure] = [null, null];
  try {
    results = await runExperiment(experiment, {
      ...{ size, seed, cleanup, rounds: samples, journal, forS },
      ...(effect !== undefined && { effect: 1 + effect / 100 }),
      onRun: (told) => runs.done(told),
    });
  } catch (error) {
    if (!error.results) throw error;
    [results, failure] = [error.results, error];
  }
  runs.end();
  results.notes.push(...leakNotes(results.runs));
  if (results.refusal) results.refusal.advice = adviceOf(results.refusal);
  if (json) for (const line of jsonLines(results)) console.log(line);
  if (results.refusal) tellRefusal(results.refusal);
  else say(`\n${table(experiment, results, out)}\n`);
  if (failure && !results.refusal) tell(failure);
  for (const line of circumstances(results)) say(line);
  const isWritten = await write(results, { ...options, results: folder }, say);
  if (results.partial === null && isWritten) journal?.remove();
  else if (journal) say(`To go on with it: --resume (its rounds are in ${journal.path}).`);
  if (results.refusal) return 3;
  if (failure) return codeOf(failure);
  if (!isWritten) return 1;
  return ended.code || failOn(experiment, results, options);
}

/** Told before anything is measured. */
function checkFailOn(experiment, { 'fail-on': findings }) {
  if (findings === undefined || decides(experiment)) return;
  const message = `--fail-on cannot be combined with ${experiment.name}: it has no claim, and no metric of it has a better`;
  throw new LabError('MILLRACE_LAB_E_INVALID_OPTION', message);
}

/** @returns {number} the exit code of what was found */
function failOn(experiment, results, { 'fail-on': findings }) {
  if (findings === undefined) return 0;
  const found = foundOf(experiment, results, findings);
  for (const line of found) console.error(`--fail-on: ${line}.`);
  return found.length > 0 ? FOUND : 0;
}

/** A file's experiment with the times of the command line. */
function changed(experiment, options) {
  const changes = {};
  for (const key of ['seconds', 'connections']) {
    if (options[key] === undefined) continue;
    const { kind } = experiment.load;
    if (!Object.hasOwn(loads[kind].form, `${key}?`)) {
      const message = `--${key} cannot be combined with ${experiment.name}: its load (${kind}) has no such key`;
      throw new LabError('MILLRACE_LAB_E_INVALID_OPTION', message);
    }
    changes[key] = options[key];
  }
  return { ...experiment, load: { ...experiment.load, ...changes } };
}

function tellRefusal({ why, advice }) {
  const text = `Refused, so no figure counts: ${why}.\n${advice}.`;
  console.error(`\n${process.stderr.isTTY ? wrap(text) : text}`);
}

/** Raw samples and reports. @returns {Promise<boolean>} whether all was written */
async function write(results, { results: folder, html, markdown }, say) {
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
