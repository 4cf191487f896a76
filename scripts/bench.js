/**
 * `make bench NAME=… [QUICK=1] [JSON=1] [SAVE=1]`: runs the benchmark bench/NAME, or with NAME=all one after the other;
 * without a name it lists them. The benchmarks read QUICK, JSON and SAVE from the environment. With JSON=1 stdout carries their
 * JSON lines and nothing else; all the rest goes to stderr.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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
  pg: ['postgresql'],
  policy: ['c', 'go'],
  redis: ['redis-server'],
  scale: ['nats-server', 'redis-server'],
};
/** Subject of each benchmark, from the comment at its beginning. */
const about = (name) =>
  /\/\*\*[\s*]+(.+): `make bench NAME=/.exec(readFileSync(main(name), 'utf8'))?.[1];
const names = readdirSync(bench).filter((name) => existsSync(main(name)));
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
  const steps = stepsFor(['node', 'load', 'bench', ...(more[NAME] ?? [])]);
  if (NAME === 'c') steps.push(cmakeTests('streaming', 'examples/streaming', { libuv: 'any' }));
  await runOrExit(steps, process.stderr);
  const options = json ? { stdio: ['ignore', 'pipe', 'inherit'], onStart: onlyJson } : {};
  const env = more[NAME]?.includes('go') ? goEnvironment() : process.env;
  await run(process.execPath, [main(NAME)], { cwd: bench, env, ...options });
}

/** Passes the JSON objects among the lines of a child on to stdout, and the other lines to stderr. */
function onlyJson({ stdout }) {
  createInterface({ input: stdout }).on('line', (line) => {
    const out = line.startsWith('{') ? process.stdout : process.stderr;
    out.write(`${line}\n`);
  });
}
