/**
 * `make test`; with --all `make check-all`, with --matrix `make test-matrix`. Exits with code 1 on any failure; the last line is
 * always `N passed, N failed`, with `, N skipped` where something was.
 */
import { runSteps } from './lib/steps.js';
import { longSteps, matrixSteps, testSteps } from './plan.js';

const targets = { '--all': [...testSteps, ...longSteps], '--matrix': matrixSteps };

const start = performance.now();
const { passed, failed, skipped, failures } = await runSteps(targets[process.argv[2]] ?? testSteps);

console.log(`\n${((performance.now() - start) / 1000).toFixed(0)} s in all`);
// Of a long log often only the end is kept.
for (const failure of failures) console.log(`failed: ${failure}`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
