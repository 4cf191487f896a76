/**
 * `make bench NAME=… [QUICK=1] [JSON=1] [SAVE=1]`: runs the benchmark bench/cases/NAME.js, or with NAME=all one after the other;
 * without a name it lists them. The benchmarks read QUICK, JSON, SAVE and CASE from the environment. With JSON=1 stdout carries their
 * JSON lines and nothing else; all the rest goes to stderr.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { load, paths } from '../bench/lib/benchmarks.js';
import { run } from './lib/child.js';
import { cmakeTests } from './lib/cmake.js';
import { exitWith, Failure } from './lib/failure.js';
import { goEnvironment } from './lib/go.js';
import { root } from './lib/paths.js';
import { runAll } from './lib/run-all.js';
import { stepsFor } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

const bench = join(root, 'bench');
const script = join(root, 'scripts/bench.js');
const main = (name) => join(bench, name, 'main.js');
/** Parts that a benchmark needs beside those of all. */
const more = {
  c: ['c'],
  go: ['go'],
  policy: ['c', 'go'],
  scale: ['nats-server', 'redis-server'],
};
const cases = paths();
/** The question of each, read as text: nothing need be built for a list. */
const about = (name) =>
  cases.has(name)
    ? /^ {2}question:\s+'(.+)',$/m.exec(readFileSync(cases.get(name), 'utf8'))?.[1]
    : /\/\*\*[\s*]+(.+): `make bench NAME=/.exec(readFileSync(main(name), 'utf8'))?.[1];
const old = readdirSync(bench).filter((name) => existsSync(main(name)));
const names = [...cases.keys(), ...old].sort();
const { NAME, JSON: json } = process.env;

try {
  if (!NAME) list();
  else if (NAME === 'all') await runAll(names, runByName);
  else if (names.includes(NAME)) await runBenchmark();
  else throw new Failure(`there is no benchmark ${NAME}; there are ${names.join(', ')}`);
} catch (error) {
  exitWith(error);
}

function list() {
  for (const name of names) console.log(`${name.padEnd(11)} ${about(name)}`);
  console.error('\nrun one: make bench NAME=batch QUICK=1; all: make bench NAME=all QUICK=1');
}

function runByName(name) {
  return run(process.execPath, [script], { env: { ...process.env, NAME: name } });
}

async function runBenchmark() {
  await runOrExit(stepsFor(['node', 'load', 'bench']), process.stderr);
  const isCase = cases.has(NAME);
  const needs = isCase ? ((await load(cases.get(NAME))).needs ?? []) : (more[NAME] ?? []);
  const steps = stepsFor(needs);
  if (NAME === 'c') steps.push(cmakeTests('streaming', 'examples/streaming', { libuv: 'any' }));
  if (needs.length > 0) await runOrExit(steps, process.stderr);
  const options = json ? { stdio: ['ignore', 'pipe', 'inherit'], onStart: onlyJson } : {};
  const env = needs.includes('go') ? goEnvironment() : process.env;
  const program = isCase ? [join(bench, 'run.js'), NAME] : [main(NAME)];
  await run(process.execPath, program, { cwd: bench, env, ...options });
}

/** Passes the JSON objects among the lines of a child on to stdout, and the other lines to stderr. */
function onlyJson({ stdout }) {
  createInterface({ input: stdout }).on('line', (line) => {
    const out = line.startsWith('{') ? process.stdout : process.stderr;
    out.write(`${line}\n`);
  });
}
