/** `make test-platforms [QUICK=1]`: the tests on platforms that are not this machine's; quick: those that take minutes. */
import { otherPlatforms } from './lib/platforms.js';
import { runSteps } from './lib/steps.js';

const steps = otherPlatforms({ quick: Boolean(process.env.QUICK) });
const { passed, failed, skipped, failures } = await runSteps(steps);
for (const failure of failures) console.log(`failed: ${failure}`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
