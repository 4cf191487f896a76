import assert from 'node:assert/strict';
import test from 'node:test';
import { startServer } from '../../run/server.js';
import { drive } from './drive.js';
import { cleanupFor } from './support.js';

test('http: two thousand connections are all answered before the window begins', async (t) => {
  const cleanup = cleanupFor(t);
  const source = `let n = 0; const s = require('http').createServer((q, r) => r.end('' + n));
    s.keepAliveTimeout = 0; // a busy generator may take seconds to ask again
    s.on('connection', () => n++);
    s.listen(0, '127.0.0.1', () => console.log('listening on http://127.0.0.1:' + s.address().port));`;
  const command = [process.execPath, '-e', source];
  const { url } = await startServer({ name: 'it', command, health: '/', cleanup });
  let atBegin;
  const begin = () => {
    atBegin = fetch(url).then((answer) => answer.text());
  };
  const load = { connections: 2000, warmup: 0.1, seconds: 0.5, timeout: 60, normalize: /\d+/ };
  const run = await drive('http', load, { url, begin });
  // One more has asked whether the server is healthy.
  assert.ok(Number(await atBegin) >= 2001, await atBegin);
  assert.deepEqual(run.faults, []);
  assert.ok(run.values.answers > 0);
});
