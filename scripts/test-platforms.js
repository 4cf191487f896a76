/** `make test-platforms`: the tests on platforms that are not this machine's. */
import { musl } from './lib/platforms.js';
import { runSteps } from './lib/steps.js';

const { passed, failed, skipped, failures } = await runSteps(musl);
for (const failure of failures) console.log(`failed: ${failure}`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
