/** Preloads blocked-at, at its default of 20 ms times five, as the others have it. Prints a line of JSON on stderr for each block. */
import { writeSync } from 'node:fs';
import blocked from 'blocked-at';

blocked((ms, stack) => writeSync(2, `${JSON.stringify({ blockedAt: stack })}\n`), {
  threshold: 100,
});
