/**
 * `make experiment [NAME=…] [SIZE=quick|medium|paper] [ROUNDS=N] [JSON=1]`: runs the experiment bench/claims/NAME.js, or the
 * file whose path is given; FOR=60m ends it after a whole round, and RESUME=1 goes on with it. NAME=auto runs those of millrace/auto
 * one after the other, and writes docs/benchmarks/auto-results.md; NAME=compute those of the compute study's tables, and docs/research/compute-results.md.
 * Without a name it runs the suite of all others, or with RESUME=1 those that a stopped suite has not done; LIST=1 lists them. With JSON=1 stdout carries JSON lines and nothing else;
 * all the rest goes to stderr.
 */
import { run } from './lib/child.js';
import { exitWith } from './lib/failure.js';
import { root } from './lib/paths.js';
import { runAll } from './lib/run-all.js';
import { stepsFor } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

const claims = 'bench/claims';
const suite = `${claims}/suite/main.js`;
const results = `${claims}/results`;

/** Several experiments by one name, and a page of their own. */
const GROUPS = ['auto', 'compute'];

/** Runs the image of the compute service, which takes longer to build than a server may take to start. */
const CONTAINER = 'compute-container';

const { NAME, LIST, SIZE, JSON: json, SEED, ROUNDS, RESUME, FOR } = process.env;

/** Experiments with applications that have packages of their own. */
const withApps = ['auto', 'auto-graphql', 'auto-nextjs', 'auto-peer'];

const needed = ['node', 'load', ...(withApps.includes(NAME) ? ['apps'] : [])];
await runOrExit(stepsFor(LIST ? ['typescript'] : needed), process.stderr);
if (!LIST && (NAME === CONTAINER || (!NAME && SIZE !== 'quick'))) await buildImage();
const common = [...(json ? ['--json'] : []), ...given('--size', SIZE), ...given('--seed', SEED)];
try {
  if (LIST) await node(suite, '--list');
  else if (!NAME) {
    const rest = RESUME ? ['--resume'] : [];
    await node(suite, ...common, ...given('--rounds', ROUNDS), ...rest);
  } else if (GROUPS.includes(NAME)) await group(NAME);
  else await one(NAME);
} catch (error) {
  exitWith(error);
}

function one(name, folder = results) {
  const file = /\.m?js$/.test(name) ? name : `${claims}/${name}.js`;
  const parts = [...(RESUME ? ['--resume'] : []), ...given('--for', FOR)];
  const options = [...common, ...given('--rounds', ROUNDS), ...parts, '--results', folder];
  return node('packages/lab/bin.js', 'experiment', file, ...options);
}

/** Has the page made even where one has failed: it tells the others. */
async function group(name) {
  const folder = `${results}/${name}-${new Date().toISOString().replaceAll(':', '-')}`;
  const work = (each) => one(each, folder);
  try {
    await runAll(await namesOf(name), work);
  } finally {
    await node(`${claims}/${name}/page.js`, folder);
  }
}

async function namesOf(group) {
  if (group === 'compute') {
    const { EXPERIMENTS } = await import('../bench/claims/compute/tables.js');
    return EXPERIMENTS;
  }
  const { names } = await import('../bench/claims/lib/named.js');
  return names().filter((name) => name.startsWith(`${group}-`));
}

/** Builds the image. Without root, buildah or crun its experiment fails, and the others run. */
async function buildImage() {
  const { imageOf } = await import('../deploy/container/image.js');
  console.error('the image of the compute service, which may take some minutes');
  await imageOf({ app: 'examples/compute', main: 'main.js' }).catch(({ message }) =>
    console.error(`${CONTAINER} will fail: ${message}`),
  );
}

function node(path, ...args) {
  return run(process.execPath, [path, ...args], { cwd: root });
}

function given(option, value) {
  return value ? [option, value] : [];
}
