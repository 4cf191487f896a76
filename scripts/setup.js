/** `make setup [PART=node|c|go]`, and what other targets need: `node scripts/setup.js PART…`, with parts of lib/setup.js. */
import { exitWith } from './lib/failure.js';
import { goCommand } from './lib/go.js';
import { stepsFor } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

const names = process.argv.slice(2);
const all = ['node', 'load', 'c', ...(goCommand() ? ['go'] : [])];

try {
  await runOrExit(stepsFor(names.length > 0 ? names : all));
} catch (error) {
  exitWith(error);
}
