/** Values of another realm: those of a vm context, and under Jest all that Node.js itself makes. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import vm from 'node:vm';
import { underPressure } from '@millrace/guard';
import { cached } from '@millrace/guard/cached';
import fastify from 'fastify';
import { listen } from './cached/shapes.js';
import { patience } from './patience.js';

const foreign = (code) => vm.runInNewContext(code);

test('cached() keeps bytes', async (t) => {
  const bytes = foreign('new Uint8Array([111, 107])');
  const { get } = await listen(t, createServer(cached((_, res) => res.end(bytes), { ttl: 60 })));
  assert.deepEqual([(await get('/')).text, (await get('/')).text], ['ok', 'ok']);
});

test('the Fastify plugin takes an error as customError', async (t) => {
  const app = fastify(patience);
  t.after(() => app.close());
  await app.register(underPressure, { customError: foreign('new Error("busy")') });
});
