/** Node.js itself, its options, and this package. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Finding, ok, type Place } from './finding.js';

/** Package.json says the same. */
const LEAST = 20;
const RECOMMENDED = 22;

/** @param version of Node.js, as in `process.versions` */
export function nodeVersion(_place: Place, version: string = process.versions.node): Finding {
  const name = 'Node.js';
  const major = Number.parseInt(version, 10);
  if (major >= RECOMMENDED) return ok(name, version);
  const fix = `install Node.js ${RECOMMENDED} or newer`;
  if (major < LEAST) {
    const means = `Millrace needs Node.js ${LEAST} or newer`;
    return { name, state: 'warning', found: version, means, fix };
  }
  const means = `Millrace works with it; ${RECOMMENDED} and newer are recommended`;
  return { name, state: 'note', found: version, means, fix };
}

export function millraceVersion(): Finding {
  const folder = fileURLToPath(new URL('../../..', import.meta.url));
  const { version } = createRequire(import.meta.url)(`${folder}package.json`) as {
    version: string;
  };
  return ok('millrace', `${version} in ${folder.replace(/[/\\]$/, '')}`);
}

/** Options that each Node.js process started from here gets. */
export function nodeOptions({ env }: Place): Finding {
  const name = 'NODE_OPTIONS';
  const { NODE_OPTIONS: options } = env;
  if (!options) return ok(name, 'not set');
  if (!options.includes('millrace/auto')) return ok(name, options);
  const means = 'each Node.js process that is started here has millrace/auto, npm and tools too';
  return { name, state: 'note', found: options, means, fix: null };
}
