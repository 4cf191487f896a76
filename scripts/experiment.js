/**
 * `make experiment NAME=… [QUICK=1] [JSON=1]`: runs the experiment lab/experiments/NAME.js; without a name it
 * lists them. With JSON=1 stdout carries JSON lines and nothing else; all the rest goes to stderr.
 */
import { run } from './lib/child.js';
import { exitWith } from './lib/failure.js';
import { root } from './lib/paths.js';
import { millrace, packages, tools } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

const { NAME, QUICK, JSON: json, SEED } = process.env;

if (NAME) await runOrExit([tools(), packages(), millrace], process.stderr);
const args = [
  ...(NAME ? [NAME] : []),
  ...(QUICK ? ['--quick'] : []),
  ...(json ? ['--json'] : []),
  ...(SEED ? ['--seed', SEED] : []),
];
await run(process.execPath, ['lab/experiment/main.js', ...args], { cwd: root }).catch(exitWith);
