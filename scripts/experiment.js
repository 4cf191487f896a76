/**
 * `make experiment [NAME=…] [QUICK=1] [JSON=1]`: runs the experiment packages/lab/experiments/NAME.js, or the file whose path
 * is given; without a name the suite of all of them; LIST=1 lists them. With JSON=1 stdout carries JSON lines and
 * nothing else; all the rest goes to stderr.
 */
import { addon } from './lib/addon.js';
import { run } from './lib/child.js';
import { exitWith } from './lib/failure.js';
import { root } from './lib/paths.js';
import { generator, millrace, packages, tools } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

const { NAME, LIST, QUICK, JSON: json, SEED } = process.env;

const needed = [tools('make', 'cmake', 'cc', 'python3'), packages(), millrace, addon, generator];
await runOrExit(LIST ? [tools(), packages(), millrace] : needed, process.stderr);
const args = [
  ...(NAME && !LIST ? ['packages/lab/experiment/main.js', NAME] : ['packages/lab/suite/main.js']),
  ...(LIST ? ['--list'] : []),
  ...(QUICK ? ['--quick'] : []),
  ...(json ? ['--json'] : []),
  ...(SEED ? ['--seed', SEED] : []),
];
await run(process.execPath, args, { cwd: root }).catch(exitWith);
