/** SHA-256 of uploads, worked out by the pool. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder, until } from '../../../scripts/lib/program-tests.js';
import { Client, request, start } from './support.js';

test('an upload is answered and logged with its SHA-256', async (t) => {
  const dataDir = await temporaryFolder(t);
  const { url } = await start(t, { digests: true, dataDir });
  const ada = await Client.connect(t, url, { name: 'Ada' });
  await ada.join('lobby');
  const uploads = [1, 70_000, 300_000].map((size) => randomBytes(size));
  const answers = await Promise.all(
    uploads.map((body) =>
      request(url, '/api/rooms/lobby/files?from=Bot&name=x', { method: 'POST', body }),
    ),
  );
  const expected = uploads.map((bytes) => createHash('sha256').update(bytes).digest('hex'));
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.file.sha256]),
    expected.map((sha256) => [201, sha256]),
  );
  const log = () => readFile(join(dataDir, 'audit.log'), 'utf8');
  await until(async () => (await log()).split('"type":"upload"').length === 4);
  const text = await log();
  for (const sha256 of expected) assert.match(text, new RegExp(sha256));
});

test('without digests there is none', async (t) => {
  const { url } = await start(t);
  const ada = await Client.connect(t, url, { name: 'Ada' });
  await ada.join('lobby');
  const path = '/api/rooms/lobby/files?from=Bot&name=x';
  const { status, body } = await request(url, path, { method: 'POST', body: 'x' });
  assert.equal(status, 201);
  assert.equal(body.file.sha256, undefined);
});
