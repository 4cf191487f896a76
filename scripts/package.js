/**
 * `npm test -w packages/guard`: builds the package and those that it uses, then runs its tests, except the long ones; for
 * `packages/lab`, which is not compiled, the tests alone. `npm test -w packages/guard -- http` runs those in `test/http`; a
 * file of `test` may be named in the same way. `make setup` comes first, once.
 */
import { basename } from 'node:path';
import { typed } from './lib/paths.js';
import { runOrExit } from './lib/steps.js';
import { suite } from './lib/suite.js';
import { withAddon } from './plan.js';

const name = basename(process.cwd());
const isTyped = typed.includes(name);
const folder = `packages/${name}${isTyped ? '/test' : ''}`;
const parts = process.argv.slice(2).map((part) => `${folder}/${part}`);
const build = {
  title: 'build',
  run: (quiet) => quiet('node_modules/.bin/tsc', ['-b', `packages/${name}`]),
};

await runOrExit([
  ...(isTyped ? [build] : []),
  suite(`tests of ${name}`, parts.length > 0 ? parts : [folder], {
    ...withAddon,
    without: [`packages/${name}/test-package`],
    first: [],
  }),
]);
