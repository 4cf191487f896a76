import assert from 'node:assert/strict';
import test from 'node:test';
import { command } from '../container/command.js';

test('a program that is not there is named', async () => {
  await assert.rejects(command('no-such-buildah', ['x']), {
    message: 'there is no no-such-buildah; install it',
  });
});
