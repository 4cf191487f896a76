import { createRequire } from 'node:module';
import { isAbsolute, join } from 'node:path';
import { MillraceError } from '../errors.js';

/**
 * Where an optional package may be: beside this one, or in the application, which may be started with a Millrace from
 * elsewhere, and in any folder.
 */
const places = () =>
  [import.meta.url, process.argv[1], join(process.cwd(), 'package.json')].filter(
    (place) => place !== undefined && (isAbsolute(place) || place.startsWith('file:')),
  ) as string[];

/**
 * Loads a package that the application brings.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` when it is not installed; `instead` is the option that makes it unnecessary
 */
export function peer<Package>(name: string, who: string, instead: string): Package {
  for (const place of places()) {
    const require = createRequire(place);
    let path: string;
    try {
      path = require.resolve(name);
    } catch {
      continue;
    }
    return require(path) as Package;
  }
  throw new MillraceError(
    'MILLRACE_E_INVALID_OPTION',
    `${who} needs the package ${name}, which is not installed; run npm install ${name}, or give '${instead}'`,
  );
}
