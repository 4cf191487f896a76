/** The backlog of a client goes on by itself, however its bytes leave. More rounds: backlog.long.test.js. */
import { describe, test } from 'node:test';
import { kinds, play } from './backlog-rounds.js';

describe('a backlog', () => {
  for (const kind of Object.keys(kinds)) {
    test(`goes on until the client has everything: ${kind}`, (t) => play(t, kind, 4, 27_000));
  }
});
