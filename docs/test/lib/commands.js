/** What can be said of a command without running it: whether the program, the files, options and variables it names exist. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { files } from '../../../scripts/lib/files.js';
import { read, root } from '../../../scripts/lib/paths.js';

/** Programs of the system, and shell. Their words are their own matter. */
const SYSTEM =
  /^(apt-get|benchstat|cc|cmake|ctest|curl|docker|done|echo|git|kill|millrace-js|nats-server|prometheus|promtool|python3|sleep|systemctl)$/;

/** Files of the reader: they have no folder. */
const isReaders = (path) => /^(\.\/)?[\w-]+\.([cm]?[jt]s|json|html)$/.test(path);

const packages = files('.')
  .filter((path) => /(^|\/)package\.json$/.test(path))
  .map((path) => ({ folder: dirname(path), ...JSON.parse(read(path)) }));
const targets = [...read('Makefile').matchAll(/^([a-z-]+):/gm)].map(([, name]) => name);
const sources = () => {
  text ??= files('.')
    .filter((path) => /\.([cm]?[jt]s|c|h|go|sh)$|(^|\/)(Makefile|run)$/.test(path))
    .filter((path) => !path.startsWith('docs/'))
    .map(read)
    .join('\n');
  return text;
};
let text;

/**
 * What is wrong with a command.
 *
 * @param {string[]} words
 * @param {string} page that shows it, relative to the root
 * @returns {string[]} a line for each fault
 */
export function faultsOf(words, page) {
  const [first, ...rest] = words;
  if (/^[A-Z_]+=/.test(first)) {
    return [...variable(first), ...(rest.length > 0 ? faultsOf(rest, page) : [])];
  }
  if (first === 'export') return rest.flatMap(variable);
  if (first === 'sudo') return faultsOf(rest, page);
  if (first === 'taskset') return faultsOf(rest.slice(2), page);
  const [, own] = /^(?:node_modules\/\.bin\/)?(millrace(?:-worker)?)$/.exec(first) ?? [];
  if (own !== undefined) return checks.npx([own, ...rest]);
  // What a guide has the reader build.
  if (/^\.\/[\w-]+$/.test(first) && page.startsWith('docs/guides/')) return [];
  if (first === 'for' || first === 'do') return [];
  if (SYSTEM.test(first)) return [];
  const check = Object.hasOwn(checks, first) ? checks[first] : program;
  return check(rest, page, first);
}

const checks = {
  make: (words) =>
    words.flatMap((word) => {
      if (!word.includes('=')) return targets.includes(word) ? [] : [`make has no target ${word}`];
      const [name, value] = word.split('=');
      if (name !== 'NAME') return variable(word);
      const isAll = value === 'all' && words.includes('bench');
      const isOne = [`bench/cases/${value}.js`, `bench/claims/${value}.js`].some(exists);
      // `NAME=auto` and `NAME=compute` are all experiments whose names begin so.
      const isGroup = files('bench/claims').some((path) =>
        path.startsWith(`bench/claims/${value}-`),
      );
      const is = isAll || isOne || isGroup;
      return is ? [] : [`there is neither a benchmark nor an experiment ${value}`];
    }),

  npm([command, ...words]) {
    if (command === 'run') return script(words[0], packages);
    if (command === 'test' && words.includes('-w')) {
      const which = words[words.indexOf('-w') + 1];
      const own = packages.filter(({ name, folder }) => which === name || which === folder);
      return script('test', own);
    }
    // The others are npm's own, or scripts of the reader's package.
    const is = /^(ci|init|install|pack|pkg|publish|rebuild|start|test)$/.test(command);
    return is ? [] : [`npm has no command ${command}`];
  },

  npx([name, ...words]) {
    const owner = packages.find((each) => Object.hasOwn(each.bin ?? {}, name));
    if (owner === undefined) return [`no package here has the program ${name}`];
    const path = join(owner.folder, owner.bin[name]);
    // It has no commands.
    if (name === 'millrace-worker') return unknown(words, help(path, []));
    const [command] = words;
    // What follows the file is the business of the application.
    const own = /^(run|observe)$/.test(command) ? untilFile(words.slice(1)) : words.slice(1);
    const isCommand = command !== undefined && !/^(-|[A-Z]+$)/.test(command);
    return unknown(own, help(path, isCommand ? [command] : []));
  },

  node(words, page) {
    const faults = [];
    let i = 0;
    for (; words[i]?.startsWith('-'); i++) {
      const [flag, inline] = words[i].split('=');
      if (/^(-e|-p|--eval|--input-type|--test.*)$/.test(flag)) continue;
      if (!process.allowedNodeEnvironmentFlags.has(flag)) faults.push(`node has no option ${flag}`);
      if (/^(-r|--require|--import|--env-file)$/.test(flag)) {
        faults.push(...module(inline ?? words[++i]));
      }
    }
    const file = words[i];
    if (file === undefined || /^-/.test(words[i - 1] ?? '')) return faults;
    const path = located(file, page);
    if (path === undefined) return [...faults, ...(isReaders(file) ? [] : [`${file} is missing`])];
    const options = words.slice(i + 1).filter((word) => word.startsWith('--'));
    if (options.length === 0) return faults;
    return [...faults, ...unknown(options, help(path, []))];
  },

  cd: ([folder], page) => (located(folder, page) ? [] : [`${folder} is missing`]),

  go: (words, page) =>
    words
      .filter((word) => word.startsWith('./') && !word.includes('...'))
      .filter((word) => ![...near(page), 'go', 'go/goja'].some((at) => exists(join(at, word))))
      .map((word) => `${word} is missing`),
};

/** A program of this repository: a script, or what CMake builds. Its options are in its sources. */
function program(words, page, name) {
  const isBuilt = /^(\S+\/)?build\//.test(name);
  const target = name.split('/').at(-1);
  const is = isBuilt
    ? exists(join(dirname(page), 'CMakeLists.txt')) && sources().includes(target)
    : located(name, page) !== undefined;
  if (!is) return [`there is no program ${name}`];
  return unknown(words, sources());
}

/** A variable of the environment has to be read somewhere. */
function variable(word) {
  const [name] = word.split('=');
  if (name === 'NODE_OPTIONS') return (word.match(/\bmillrace\/[\w/]+/g) ?? []).flatMap(module);
  const is = new RegExp(`\\b${name}\\b`).test(sources());
  return is ? [] : [`nothing reads ${name}`];
}

/** A module of ours that Node.js is to load. */
function module(name) {
  if (!/^millrace(\/|$)/.test(name)) return [];
  const { exports } = packages.find((each) => each.name === 'millrace');
  return name.replace('millrace', '.') in exports ? [] : [`${name} is not exported`];
}

const script = (name, where) =>
  where.some(({ scripts = {} }) => name in scripts) ? [] : [`there is no script ${name}`];

/** Options that a text does not tell of. */
const unknown = (words, known) =>
  words
    .filter((word) => /^--\w/.test(word))
    .map((word) => word.split('=')[0])
    .filter((option) => !new RegExp(`(?<![\\w-])(--)?${option.slice(2)}(?![\\w-])`).test(known))
    .map((option) => `there is no option ${option}`);

/** The words before the file that is run, or before `--`: those after it are the application's or those of Node.js. */
function untilFile(words) {
  const at = words.findIndex((word) => /^(--|[A-Z]+|[^-]\S*\.[cm]?[jt]s)$/.test(word));
  return at < 0 ? words : words.slice(0, at);
}

const helps = new Map();
function help(path, command) {
  const key = [path, ...command].join(' ');
  if (!helps.has(key)) {
    const args = [join(root, path), ...command, '--help'];
    helps.set(key, execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 600_000 }));
  }
  return helps.get(key);
}

const exists = (path) => existsSync(join(root, path));
const near = (page) => ['.', dirname(page)];
const located = (path, page) =>
  near(page)
    .map((at) => join(at, path))
    .find(exists);
