/** The same as backlog.test.js, for many rounds. */
import { test } from 'node:test';
import { kinds, play } from './backlog-rounds.js';

for (const kind of Object.keys(kinds)) {
  test(`200 random rounds without a stall: ${kind}`, (t) => play(t, kind, 200, 1));
}
