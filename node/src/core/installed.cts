/**
 * The package on the disk: what is not part of a program that is bundled. Those are the addon, the programs of workers and
 * processes, the page of the dashboard, and packages that are loaded when they are first needed. A bundle takes them from the
 * package that is installed where it runs.
 */
import { builtin } from './realm.cjs';

const { createRequire } = builtin('node:module');
const { dirname, isAbsolute, join } = builtin('node:path');

/** A bundle has the text of this file in it, and its version with it. */
export const { version } = require('../../package.json') as { version: string };

/** Not read from the file: that may be the one of an application which a copy of this code is part of. */
const name = 'millrace';

/** A file to look for packages from: in this package, or the bundle. None in a bundle of ES modules, where a file knows no name. */
export const ownPlaces: readonly string[] = typeof __filename === 'string' ? [__filename] : [];

/** The same for packages of the application, which need not be where this package is. */
export const applicationPlaces = (): string[] =>
  [process.argv[1] ?? '', join(process.cwd(), '-')].filter((place) => isAbsolute(place));

/** The folder of this package; or why there is none, as the end of a sentence. */
type Installed = { folder: string; missing: null } | { folder: null; missing: string };

let known: Installed | undefined;

export function installed(): Installed {
  known ??= find();
  return known;
}

function find(): Installed {
  const places = [...ownPlaces, ...applicationPlaces()];
  const candidates = places.map(
    (place) => () => createRequire(place).resolve(`${name}/package.json`),
  );
  if (typeof __dirname === 'string')
    candidates.unshift(() => join(__dirname, '../../package.json'));
  let missing = `the package ${name} is not installed where it runs`;
  for (const candidate of candidates) {
    try {
      const path = candidate();
      const found = createRequire(path)(path) as { name?: string; version?: string };
      if (found.name !== name) continue;
      if (found.version === version) return { folder: dirname(path), missing: null };
      missing = `the package ${name} that is installed where it runs is ${found.version}, not ${version}`;
    } catch {
      // Not there.
    }
  }
  return { folder: null, missing };
}
