/** `make lint` and `make format`: runs Biome with the arguments given, and gofmt if they include --write and Go is there. */
import { run } from './lib/child.js';
import { exitWith } from './lib/failure.js';
import { goCommand, goEnvironment, goModules } from './lib/go.js';
import { root } from './lib/paths.js';
import { packages, tools } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

const args = process.argv.slice(2);

await runOrExit([tools(), packages()]);
await run('node_modules/.bin/biome', args, { cwd: root }).catch(exitWith);
if (args.includes('--write') && goCommand()) {
  await run('gofmt', ['-l', '-w', ...goModules], { cwd: root, env: goEnvironment() }).catch(
    exitWith,
  );
}
