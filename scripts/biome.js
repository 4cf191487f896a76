/** `make lint` and `make format`: runs Biome with the arguments given. */
import { run } from './lib/child.js';
import { exitWith } from './lib/failure.js';
import { root } from './lib/paths.js';
import { packages, tools } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

await runOrExit([tools(), packages()]);
await run('node_modules/.bin/biome', process.argv.slice(2), { cwd: root }).catch(exitWith);
