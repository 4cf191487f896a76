/**
 * Checks of the application in the working folder: its settings for `millrace/auto`, and the copies of packages that Millrace works
 * with. `millrace/auto` acts on every copy of ws in a process, so all that the application could load are looked for: in `node_modules`
 * of the folder and of those above it, and in those of the packages in there, linked ones too. It takes a few system calls per package.
 */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { featureNames, readSettings } from '../../auto/settings.cjs';
import { findLab, INSTALL } from '../lab.js';
import { note, ok, type Place, type Result, warning } from './report.js';

/** Reports the settings of `millrace/auto` in this folder with this environment. */
export function settings({ cwd, env }: Place) {
  try {
    const settings = readSettings(env, cwd);
    const { mode, file } = settings;
    const from = file === null ? 'no millrace.config.json' : relative(cwd, file);
    const switches = env.MILLRACE ? `MILLRACE=${env.MILLRACE}` : 'MILLRACE not set';
    const on = featureNames.filter((feature) => settings[feature] !== false);
    const doing = { act: `on: ${on.join(', ')}`, observe: 'observes only', off: 'all off' }[mode];
    return ok(`${from}, ${switches}; ${doing}`);
  } catch (error) {
    return warning(
      (error as Error).message,
      'an application with millrace/auto does not start: exit code 9',
      'correct it; config.schema.json of this package says what is allowed',
    );
  }
}

export function ws({ cwd }: Place) {
  const copies = copiesOf('ws', cwd);
  if (copies.length === 0) return ok('no copy in node_modules');
  const found = described(copies, cwd);
  if (copies.every((copy) => majorOf(copy) >= 6 && majorOf(copy) <= 8)) return ok(found);
  const means = 'Millrace works with versions 6 to 8 and leaves others as they are';
  return note(found, means, 'npm ls ws says who brings the other one');
}

/** A package that `@millrace/monitor/metrics` works with, where the application has it. */
const peer =
  (name: string, major: number, purpose: string) =>
  ({ cwd }: Place): Result => {
    const copies = copiesOf(name, cwd);
    if (copies.length === 0) {
      const means = `optional: @millrace/monitor/metrics needs it for ${purpose}`;
      return note('not installed', means, `npm install ${name}`);
    }
    const found = described(copies, cwd);
    if (copies.some((copy) => majorOf(copy) === major)) return ok(found);
    const means = `@millrace/monitor/metrics needs version ${major}`;
    return warning(found, means, `npm install ${name}@${major}`);
  };

export const promClient = peer('prom-client', 15, 'metrics for Prometheus');
export const openTelemetry = peer('@opentelemetry/api', 1, 'metrics for OpenTelemetry');

export function lab() {
  const path = findLab();
  if (path !== undefined) return ok(path);
  const means = 'optional: millrace compare, experiment and report need it';
  return note('not installed', means, INSTALL);
}

/** A copy of a package. */
interface Copy {
  readonly version: string;
  readonly folder: string;
}

const majorOf = ({ version }: Copy): number => Number.parseInt(version, 10);

const described = (copies: readonly Copy[], cwd: string): string =>
  copies
    .map((copy) => {
      const native = seesBufferutil(copy) ? ', with bufferutil (masks and unmasks in C)' : '';
      return `${copy.version} in ${relative(cwd, copy.folder)}${native}`;
    })
    .join('; ');

const seesBufferutil = ({ folder }: Copy): boolean =>
  attempt(() => createRequire(join(folder, 'package.json')).resolve('bufferutil'), null) !== null;

/** Returns all copies that an application in this folder may load. */
export function copiesOf(name: string, cwd: string): Copy[] {
  const copies: Copy[] = [];
  const seen = new Set<string>();
  const visit = (modules: string) => {
    for (const [found, path] of packagesIn(modules)) {
      // A link may lead nowhere.
      const folder = attempt(() => realpathSync(path), null);
      if (folder === null || seen.has(folder)) continue;
      seen.add(folder);
      if (found === name) copies.push({ version: versionOf(folder), folder });
      visit(join(folder, 'node_modules'));
    }
  };
  for (let folder = cwd; ; folder = dirname(folder)) {
    visit(join(folder, 'node_modules'));
    if (folder === dirname(folder)) return copies;
  }
}

/** Names and folders. */
function* packagesIn(modules: string): Generator<readonly [name: string, folder: string]> {
  for (const name of entriesOf(modules)) {
    const folder = join(modules, name);
    if (name.startsWith('@')) {
      for (const inner of entriesOf(folder)) yield [`${name}/${inner}`, join(folder, inner)];
    } else if (name === '.pnpm') {
      // Its folders are not packages, but have node_modules with packages.
      for (const inner of entriesOf(folder)) yield* packagesIn(join(folder, inner, 'node_modules'));
    } else if (!name.startsWith('.')) yield [name, folder];
  }
}

/** Empty for a file, and for what is not readable for us. */
const entriesOf = (folder: string): string[] =>
  existsSync(folder) ? attempt(() => readdirSync(folder), []) : [];

function versionOf(folder: string): string {
  const unknown = 'without a version';
  const path = join(folder, 'package.json');
  return attempt(() => String(JSON.parse(readFileSync(path, 'utf8')).version ?? unknown), unknown);
}

function attempt<Result>(act: () => Result, otherwise: Result): Result {
  try {
    return act();
  } catch {
    return otherwise;
  }
}
