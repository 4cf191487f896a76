/**
 * `make test`, and with --all `make check-all`. Exits with code 1 on any failure; the last line is
 * always `N passed, N failed`, with `, N skipped` where something was.
 */
import { runSteps } from './lib/steps.js';
import { longSteps, testSteps } from './suites.js';

const start = performance.now();
const steps = process.argv.includes('--all') ? [...testSteps, ...longSteps] : testSteps;
const { passed, failed, skipped } = await runSteps(steps);

console.log(`\n${((performance.now() - start) / 1000).toFixed(0)} s in all`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
