/** `make setup`: installs the npm packages and builds everything. */
import { addon } from './lib/addon.js';
import { goCommand, goPackages } from './lib/go.js';
import { root } from './lib/paths.js';
import { generator, millrace, packages, tools } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';
import { uvbatch } from './lib/uvbatch.js';

await runOrExit([
  tools('make', 'cmake', 'cc', 'python3'),
  packages(),
  millrace,
  addon,
  generator,
  uvbatch,
  ...(goCommand() ? [goPackages] : []),
]);

console.log(`\nIn the folder of an application: npm install ${root}packages/millrace`);
