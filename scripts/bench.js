/**
 * `make bench NAME=… [QUICK=1] [JSON=1] [SAVE=1]`: runs the benchmark bench/cases/NAME.js, or with NAME=all one after the other;
 * without a name it lists them. The benchmarks read QUICK, JSON, SAVE and CASE from the environment. With JSON=1 stdout carries their
 * JSON lines and nothing else; all the rest goes to stderr.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { load, paths } from '../bench/lib/benchmarks.js';
import { run } from './lib/child.js';
import { exitWith, Failure } from './lib/failure.js';
import { goEnvironment } from './lib/go.js';
import { root } from './lib/paths.js';
import { runAll } from './lib/run-all.js';
import { stepsFor } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

const bench = join(root, 'bench');
const script = join(root, 'scripts/bench.js');
const cases = paths();
const names = [...cases.keys()];
/** The question of each, read as text: nothing need be built for a list. */
const question = (name) =>
  /^\s+question:\s+'(.+)',$/m.exec(readFileSync(cases.get(name), 'utf8'))?.[1];
const { NAME, JSON: json } = process.env;

try {
  if (!NAME) list();
  else if (NAME === 'all') await runAll(names, runByName);
  else if (cases.has(NAME)) await runBenchmark();
  else throw new Failure(`there is no benchmark ${NAME}; there are ${names.join(', ')}`);
} catch (error) {
  exitWith(error);
}

function list() {
  for (const name of names) console.log(`${name.padEnd(11)} ${question(name)}`);
  console.error('\nrun one: make bench NAME=batch QUICK=1; all: make bench NAME=all QUICK=1');
}

function runByName(name) {
  return run(process.execPath, [script], { env: { ...process.env, NAME: name } });
}

async function runBenchmark() {
  await runOrExit(stepsFor(['node', 'load', 'bench']), process.stderr);
  // Its imports are there now.
  const { needs = [] } = await load(cases.get(NAME));
  if (needs.length > 0) await runOrExit(stepsFor(needs), process.stderr);
  const options = json ? { stdio: ['ignore', 'pipe', 'inherit'], onStart: onlyJson } : {};
  const env = needs.includes('go') ? goEnvironment() : process.env;
  await run(process.execPath, [join(bench, 'run.js'), NAME], { cwd: bench, env, ...options });
}

/** Passes the JSON objects among the lines of a child on to stdout, and the other lines to stderr. */
function onlyJson({ stdout }) {
  createInterface({ input: stdout }).on('line', (line) => {
    const out = line.startsWith('{') ? process.stdout : process.stderr;
    out.write(`${line}\n`);
  });
}
