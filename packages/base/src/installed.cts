/**
 * A package on the disk: what is not part of a program that is bundled. Those are the addon, the programs of workers and
 * processes, the page of the dashboard, and packages that are loaded when they are first needed. A bundle takes them from the
 * package that is installed where it runs, if it is of the same version.
 *
 * Each package that has such files says in its `package.cts` who it is. That file is CommonJS for two reasons: a bundle has the text
 * of its `package.json` in it, and where it knows its own name, it is the first place to look.
 */
import { builtin } from './realm.cjs';

const { createRequire } = builtin('node:module');
const { dirname, isAbsolute, join } = builtin('node:path');

/** A package as its own code knows it. */
interface PackageIdentity {
  /** Name, not read from `package.json`: that may be the one of an application which a copy of this code is part of. */
  readonly name: string;
  /** Version of the code that runs, bundled or not. */
  readonly version: string;
  /** Files to look for packages from: in this package, or the bundle. None in a bundle of ES modules, where a file knows no name. */
  readonly places: readonly string[];
}

/** The folder of a package; or why there is none, as the end of a sentence. */
type Installed = { folder: string; missing: null } | { folder: null; missing: string };

/** Results by asking package: one place may see what another does not. */
const known = new WeakMap<PackageIdentity, Installed>();

/** Files of the application to look for its packages from: they need not be where a package of ours is. */
export const applicationPlaces = (): string[] =>
  [process.argv[1] ?? '', join(process.cwd(), '-')].filter((place) => isAbsolute(place));

/** Looks for it once, and reads one small file for each place. */
export function installed(which: PackageIdentity): Installed {
  let found = known.get(which);
  if (found === undefined) {
    found = find(which);
    known.set(which, found);
  }
  return found;
}

function find({ name, version, places }: PackageIdentity): Installed {
  const candidates = [
    // Built files are in a folder of their package.
    ...places.map((file) => () => join(dirname(file), '../package.json')),
    ...[...places, ...applicationPlaces()].map(
      (place) => () => createRequire(place).resolve(`${name}/package.json`),
    ),
  ];
  let missing = `the package ${name} is not installed where it runs`;
  for (const candidate of candidates) {
    try {
      const path = candidate();
      const manifest = createRequire(path)(path) as { name?: string; version?: string };
      if (manifest.name !== name) continue;
      if (manifest.version === version) return { folder: dirname(path), missing: null };
      missing = `the package ${name} that is installed where it runs is ${manifest.version}, not ${version}`;
    } catch {
      // Not there.
    }
  }
  return { folder: null, missing };
}

/**
 * Loads a package that the application brings. It may be beside the one that asks, or in the application, which may be started with a
 * Millrace from elsewhere, and in any folder. Undefined where it is not installed.
 */
export function peer<Package>(which: PackageIdentity, name: string): Package | undefined {
  for (const place of [...which.places, ...applicationPlaces()]) {
    const require = createRequire(place);
    let path: string;
    try {
      path = require.resolve(name);
    } catch {
      continue;
    }
    return require(path) as Package;
  }
  return undefined;
}

/**
 * The path of a file or folder of a package.
 *
 * @param who needs it, for the message
 * @throws {MillraceError} `MILLRACE_E_BUNDLED` in a bundle that finds no package of its version
 */
export function packageFile(which: PackageIdentity, path: string, who: string): string {
  const { folder, missing } = installed(which);
  if (folder !== null) return join(folder, path);
  // A start of stalls() needs this file, and no error.
  const { MillraceError } = require('./errors.cjs') as typeof import('./errors.cjs');
  throw new MillraceError(
    'MILLRACE_E_BUNDLED',
    `${who} needs files that a bundle does not have, and ${missing}; install it there, or bundle with --external:${which.name}`,
  );
}
