import { createRequire } from 'node:module';
import { applicationPlaces } from '@millrace/base/installed';
import { fault } from '@millrace/base/options';
import { thisPackage } from '../package.cjs';

/**
 * Loads a package that the application brings. It may be beside this one, or in the application, which may be started with a
 * Millrace from elsewhere, and in any folder.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` when it is not installed; `instead` is the option that makes it unnecessary
 */
export function peer<Package>(name: string, who: string, instead: string): Package {
  for (const place of [...thisPackage.places, ...applicationPlaces()]) {
    const require = createRequire(place);
    let path: string;
    try {
      path = require.resolve(name);
    } catch {
      continue;
    }
    return require(path) as Package;
  }
  throw fault(
    who,
    `needs the package ${name}, which is not installed; run npm install ${name}, or give '${instead}'`,
  );
}
