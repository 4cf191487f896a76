/**
 * An experiment on a terminal, for the commands that measure: says what will be measured, shows each run, ends in a summary and a table, keeps
 * the samples, writes the reports, and makes an exit code of what was found. Signals end it after what is whole.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../load/errors.js';
import { summary } from '../report/summary.js';
import { Cleanup, watchSignals } from '../run/cleanup.js';
import { codeOf, fail, tell } from '../run/command.js';
import { decides, FOUND, foundOf } from './fail-on.js';
import { planLine } from './files.js';
import { runExperiment } from './gather.js';
import { journalOf } from './journal.js';
import { leakNotes } from './leaks.js';
import { stepsOf } from './plan.js';
import { Runs, wrap } from './progress.js';
import { checkOutlets, jsonLines, keep } from './results.js';
import { circumstances, introduction, table } from './table.js';

const SIGNAL_MS = 250;

/** Folder for raw samples, in the working directory. */
const RESULTS = 'millrace-results';

/**
 * Runs a command that measures, and ends the process.
 *
 * @param {string[]} argv
 * @param {object} of
 * @param {string} of.command what it was called by
 * @param {string} of.usage
 * @param {(argv: string[]) => Options} of.read
 * @param {(options: Options, on: { cleanup: Cleanup }) => Promise<Prepared | null>} of.prepare null when there was nothing to measure, and all was said
 * @returns {Promise<never>}
 *
 * @typedef {import('./args.js').Options & Record<string, any>} Options
 * @typedef {object} Prepared
 * @property {import('./format.js').Experiment} experiment
 * @property {string} [hint] the way to a shorter run, for the end of the plan
 * @property {(refusal: import('./refusal.js').Refusal) => string} [adviceOf] what to do about a refusal, in terms of the command line
 */
export async function measureOnTerminal(argv, { command, usage, read, prepare }) {
  const cleanup = new Cleanup();
  let options;
  try {
    options = read(argv);
    const { results, html, markdown, help } = options;
    if (!help) checkOutlets({ results, html, markdown });
  } catch (error) {
    fail(command, error);
    return process.exit();
  }
  const ended = watchSignals(cleanup, tell);
  if (options.help) {
    console.log(usage);
    return cleanup.exit(0);
  }
  try {
    const prepared = await prepare(options, { cleanup });
    return await cleanup.exit(
      prepared === null ? 0 : await measure(prepared, options, { cleanup, ended }),
    );
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

/** @returns {Promise<number>} the exit code */
async function measure({ experiment, hint = '', adviceOf }, options, { cleanup, ended }) {
  const { size, json, rounds, effect, forS, results: folder = RESULTS } = options;
  const out = json ? process.stderr : process.stdout;
  const say = (line) => out.write(`${line}\n`);
  checkFailOn(experiment, options);
  const plan = planLine([experiment], { size, rounds });
  say(`${introduction(experiment, { size })}\n${plan}${hint}.\n`);
  const { journal, seed, hint: told } = journalOf(experiment, { ...options, folder });
  if (told) say(`${told}\n`);
  const runs = new Runs({
    steps: stepsOf(experiment, { size, rounds }),
    before: journal?.runs,
    metric: experiment.metrics[0],
    out,
  });
  cleanup.add(() => runs.end());
  let [results, failure] = [null, null];
  try {
    results = await runExperiment(experiment, {
      ...{ size, seed, cleanup, rounds, journal, forS },
      ...(effect !== undefined && { effect: 1 + effect / 100 }),
      onRun: (told) => runs.done(told),
    });
  } catch (error) {
    if (!error.results) throw error;
    [results, failure] = [error.results, error];
  }
  runs.end();
  results.notes.push(...leakNotes(results.runs));
  if (results.refusal && adviceOf) results.refusal.advice = adviceOf(results.refusal);
  if (json) for (const line of jsonLines(results)) console.log(line);
  if (results.refusal) tellRefusal(results.refusal);
  else say(`\n${summary(results, out)}\n\nStatistics\n\n${table(experiment, results, out)}\n`);
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

function tellRefusal({ kind, why, advice }) {
  const head = kind === 'idle' ? 'Stopped in the first round' : 'Refused, so no figure counts';
  const text = `${head}: ${why}.\n${advice}.`;
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
