/** `make demo`: builds what the demo needs, then runs it on this terminal. */
import { addon } from './lib/addon.js';
import { run } from './lib/child.js';
import { exitWith } from './lib/failure.js';
import { root } from './lib/paths.js';
import { generator, millrace, packages, tools } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

await runOrExit([tools('make', 'cmake', 'cc', 'python3'), packages(), millrace, addon, generator]);
console.log();
await run(process.execPath, ['packages/lab/run/demo.js'], { cwd: root }).catch(exitWith);
