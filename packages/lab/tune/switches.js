/**
 * Switches that `tune` tries, one at a time. Each is a set of environment variables, so that the user's command need not be parsed. A
 * switch that cannot be tried has a reason instead.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * @typedef {object} Switch
 * @property {string} name of the arm, as short as fits a table
 * @property {string} group for `--only` and `--without`
 * @property {Record<string, string>} env added to that of the control
 */

/** Groups of switches, for `--only` and `--without`; switches of --env are always tried. */
export const GROUPS = ['semi-space', 'threadpool', 'auto'];

/** Sizes in MB; V8's default is 16. */
const SEMI_SPACES = [32, 64];

/** Numbers of threads; libuv's default is 4. */
const THREADS = [8, 16];

/** Features of auto that can make a server cheaper. The guard refuses requests, and monitor only looks. */
const FEATURES = ['ws', 'fs', 'dns', 'reads', 'net'];

/** Reasons for switches that are not tried although a reader might expect them. */
const NEVER = [
  'pipelined of millrace/pg: it takes a line of code; try it with millrace compare',
  'the guard: it refuses requests; MILLRACE=guard-shadow says what it would save',
];

/**
 * Returns the switches for a server that is started in a folder.
 *
 * @param {object} options
 * @param {string[]} options.only groups
 * @param {string[]} options.without groups, or names of switches
 * @param {Record<string, string>} options.env switches of the user's own
 * @param {NodeJS.ProcessEnv} [options.inherited] environment of the control
 * @param {boolean} [options.hasAuto] whether a program in that folder finds millrace/auto
 * @returns {{ switches: Switch[], untried: string[] }}
 */
export function switchesFor({
  only,
  without,
  env,
  inherited = process.env,
  hasAuto = findsAuto(process.cwd()),
}) {
  const nodeOptions = (more) => `${inherited.NODE_OPTIONS ?? ''} ${more}`.trim();
  const auto = (words) => ({
    NODE_OPTIONS: nodeOptions('--import millrace/auto'),
    ...(words !== null && { MILLRACE: words }),
  });
  const alone = (name) =>
    [name, ...FEATURES.filter((each) => each !== name).map((each) => `no-${each}`)].join(',');
  const all = [
    ...SEMI_SPACES.map((mb) => ({
      ...{ name: `semi-space ${mb}`, group: 'semi-space' },
      env: { NODE_OPTIONS: nodeOptions(`--max-semi-space-size=${mb}`) },
    })),
    ...THREADS.map((threads) => ({
      ...{ name: `threadpool ${threads}`, group: 'threadpool' },
      env: { UV_THREADPOOL_SIZE: `${threads}` },
    })),
    { name: 'auto', group: 'auto', env: auto(null) },
    ...FEATURES.map((name) => ({
      ...{ name: `auto ${name}`, group: 'auto' },
      env: auto(alone(name)),
    })),
  ];
  const isWanted = ({ name, group }) =>
    only.includes(group) && !without.includes(group) && !without.includes(name);
  const wanted = all.filter(isWanted);
  const untried = [...NEVER];
  const isMissing = !hasAuto && wanted.some(({ group }) => group === 'auto');
  if (isMissing) {
    untried.unshift('auto: millrace is not installed here; npm install millrace');
  }
  const own = Object.entries(env).map(([name, value]) => ({
    ...{ name: `${name}=${value}`, group: 'env' },
    env: { [name]: value },
  }));
  return {
    switches: [...wanted.filter(({ group }) => hasAuto || group !== 'auto'), ...own],
    untried,
  };
}

/** Returns the names that --without accepts. */
export const switchNames = () => {
  const { switches } = switchesFor({ only: GROUPS, without: [], env: {}, hasAuto: true });
  return [...GROUPS, ...switches.map(({ name }) => name)];
};

function findsAuto(folder) {
  try {
    createRequire(join(folder, 'package.json')).resolve('millrace/auto');
    return true;
  } catch {
    return false;
  }
}

/** Returns a shell command line that starts the server with a switch. */
export function commandLine(command, { env }) {
  const words = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  return [...words, command].join(' ');
}

const quoted = (text) =>
  /^[\w.,:/=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
