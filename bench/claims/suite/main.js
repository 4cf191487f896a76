#!/usr/bin/env node
/** `make experiment` without a name: all of them, and what they found. `--help` lists the options. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { watchOutput } from '@millrace/base/command';
import {
  Cleanup,
  checkOutlets,
  experimentLines,
  hostRecord,
  jsonLines,
  keep,
  makeFolder,
  planLine,
  SIZES,
} from '@millrace/lab/experiment';
import { duration, writeReport } from '@millrace/lab/report';
import { codeOf as codeOfError, fail, tell, watchSignals } from '@millrace/lab/run';
import { judgeClaims, valuesOfLines } from '../../go/judge.js';
import { runOf } from '../../tables/store.js';
import { CLAIMS } from '../lib/claims.js';
import { FOLDER, loadNamed, names } from '../lib/named.js';
import { readSuiteArgs, USAGE } from './args.js';
import { Attempts } from './attempts.js';
import { resultsPage } from './page.js';
import { doneBefore } from './resume.js';
import { measuredOf, runSuite, suiteNames } from './run.js';

const RESULTS = fileURLToPath(new URL('../results/', import.meta.url));
const DOCS = fileURLToPath(new URL('../../../docs/research/results.md', import.meta.url));
const CLEAR = '\r\x1b[K';

let options;
try {
  options = readSuiteArgs(process.argv.slice(2));
  if (!options.help) checkOutlets({ results: options.results, docs: options.docs });
} catch (error) {
  fail('node bench/claims/suite/main.js', error);
  process.exit();
}
const { size, json, results: folder = RESULTS, docs = DOCS } = options;
const out = json ? process.stderr : process.stdout;
const say = (line) => out.write(`${out.isTTY ? CLEAR : ''}${line}\n`);

const cleanup = new Cleanup();
const attempts = new Attempts();
watchOutput();
if (options.help) console.log(USAGE);
else if (options.list) await list();
else if (options.from) page(JSON.parse(readFileSync(options.from, 'utf8')));
else await run();

async function list() {
  console.log((await experimentLines(FOLDER)).join('\n'));
  console.log('\nall of them:');
  for (const each of SIZES) {
    const plan = planLine(measuredOf(await loaded(each)), { size: each, rounds: options.rounds });
    console.log(`  ${each.padEnd(6)}  ${plan}`);
  }
}

function loaded(of) {
  return Promise.all(suiteNames(names(), of).map(loadNamed));
}

async function run() {
  const ended = watchSignals(cleanup, tell);
  let code;
  try {
    const all = await loaded(size);
    const before = options.resume
      ? doneBefore(folder, { size, host: hostRecord() })
      : { entries: [], seconds: 0, seed: options.seed };
    for (const { results } of before.entries) results.runs = results.runs.map(thinned);
    const isDone = ({ name }) => before.entries.some(({ experiment }) => experiment === name);
    const experiments = all.filter((each) => !isDone(each));
    say(
      `${planLine(measuredOf(experiments), { size, rounds: options.rounds })}; Ctrl-C keeps what there is`,
    );
    const { seed } = before;
    const suite = await runSuite(experiments, { ...options, seed, cleanup, onRun, onEnd });
    suite.entries = [...before.entries, ...suite.entries];
    suite.seconds += before.seconds;
    write(suite);
    code = codeOf(suite);
  } catch (error) {
    tell(error);
    code = codeOfError(error);
  }
  await cleanup.exit(ended.code || code);
}

function onRun({ step, steps, secondsLeft, experiment, run }) {
  const line = `[${step}/${steps}] ${experiment} ${run.case} round ${run.round}, ${duration(secondsLeft)} left`;
  if (out.isTTY) out.write(`${CLEAR}${line.slice(0, (out.columns ?? 80) - 1)}`);
  else if (step % 20 === 0) say(line);
}

/** Raw samples go to a file of each experiment; they need not stay in memory. */
function onEnd({ experiment, state, why, results }) {
  const took = results ? `, ${duration(results.seconds)}` : '';
  say(`${experiment}: ${state}${why === null ? '' : `: ${why}`}${took}`);
  if (state === 'done' || state === 'partial') {
    for (const line of claimLines(results.claims)) say(`    ${line}`);
  }
  if (results === null) return;
  attempts.try(() => keep(results, folder));
  if (json) for (const line of jsonLines(results)) console.log(line);
  results.runs = results.runs.map(thinned);
}

/** Lines of claims: their verdicts, and at how many loads and arms. */
function claimLines(claims) {
  const counts = new Map();
  for (const { text, verdict } of claims.filter((each) => each.verdict !== 'not measured')) {
    const verdicts = counts.get(text) ?? new Map();
    counts.set(text, verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1));
  }
  const told = (verdicts) => [...verdicts].map(([verdict, n]) => `${verdict} ${n}`).join(', ');
  return [...counts].map(([text, verdicts]) => `${told(verdicts)}: ${text}`);
}

/** Reduces a run to what the report draws; the series of one round are enough for it. */
function thinned({ answers, ...run }) {
  return run.round === 1 ? run : { ...run, series: {} };
}

function write(suite) {
  const path = join(folder, `suite-${suite.date.replaceAll(':', '-')}`);
  const results = suite.entries.flatMap((entry) => entry.results ?? []);
  // Everything but the runs, which are in the files of the experiments.
  const entries = suite.entries.map((entry) => ({
    ...entry,
    results: entry.results && { ...entry.results, runs: [] },
  }));
  attempts.try(() => {
    makeFolder(folder);
    writeFileSync(`${path}.json`, `${JSON.stringify({ ...suite, entries }, null, 1)}\n`);
    say(`results: ${path}.json`);
  });
  if (results.length > 0) {
    attempts.try(() => {
      writeReport({ results, html: `${path}.html` });
      say(`report: ${path}.html`);
    });
  }
  // A part of a suite says nothing of the claims that it did not come to.
  if (!suite.stopped) attempts.try(() => page({ ...suite, entries }));
  else say(`${docs} is as it was: the run was stopped`);
}

function page(suite) {
  const judged = judgeClaims(valuesOfLines(runOf('go')?.figures ?? []));
  writeFileSync(docs, resultsPage(suite, CLAIMS, judged));
  say(`page: ${docs}`);
}

function codeOf({ entries }) {
  const states = entries.map(({ state }) => state);
  if (states.includes('failed') || attempts.hasFailed) return 1;
  return states.includes('refused') ? 3 : 0;
}
