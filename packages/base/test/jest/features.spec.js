/** Values that Node.js makes come from another realm here, and fake timers are those of Jest. */
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { cached } from '@millrace/guard/cached';
import { monitor } from '@millrace/monitor';
import { lineChunks, Pool } from '@millrace/pool';
import { BatchEmitter, batch } from 'millrace';
import { appendFile, readFile, writeFile } from 'millrace/fs';

const missing = join(process.env.FOLDER, 'there is none');

test('errors of Node.js are of another realm', async () => {
  const error = await fs.readFile(missing).catch((error) => error);
  expect(error instanceof Error).toBe(false);
});

test('batch() rejects the call whose result is an error of Node.js', async () => {
  const contents = batch((paths) =>
    Promise.all(paths.map((path) => fs.readFile(path).catch((error) => error))),
  );
  await expect(contents(missing)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('batch() takes a signal', async () => {
  const abort = new AbortController();
  const call = batch(async (items) => items)(1, { signal: abort.signal });
  abort.abort(new Error('enough'));
  await expect(call).rejects.toMatchObject({ message: 'enough' });
});

test('millrace/fs', async () => {
  const path = join(process.env.FOLDER, 'written');
  await writeFile(path, new Uint8Array([97, 10]));
  await Promise.all([appendFile(path, 'b\n'), appendFile(path, Buffer.from('c\n'))]);
  expect(await readFile(path, { encoding: 'utf8' })).toBe('a\nb\nc\n');
  await expect(readFile('there is none either')).rejects.toMatchObject({
    code: 'ENOENT',
    path: 'there is none either',
  });
  const lines = [];
  const source = (await fs.open(path)).createReadStream();
  for await (const { data } of lineChunks(source)) lines.push(`${Buffer.from(data)}`);
  expect(lines.join('')).toBe('a\nb\nc\n');
});

test('a task that fails keeps the properties of its error', async () => {
  const pool = new Pool({ filename: process.env.TASK, maxThreads: 1 });
  const error = await pool.run().catch((error) => error);
  await pool.destroy();
  expect([error.name, error.code]).toEqual(['RangeError', 'E_FAR']);
});

test('health() tells the message of a source that throws', () => {
  const watch = monitor({ tasks: { broken: () => process.chdir(missing) } });
  const { error } = watch.health().tasks.broken;
  watch.stop();
  expect(error).toMatch(/^ENOENT/);
});

test('fake timers reach nothing', async () => {
  let runs = 0;
  const handler = cached((_, res) => res.end(Buffer.from(`run ${++runs}`)), { ttl: 3600 });
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/`;
  const pool = new Pool({ filename: process.env.DOUBLES, maxThreads: 1 });
  const held = batch(async (items) => items.map((item) => 2 * item), {
    policy: 'fixed',
    maxDelay: 5,
  });
  const emitter = new BatchEmitter({ policy: 'fixed', maxDelay: 5 });
  // Node.js itself needs the true one for its streams.
  jest.useFakeTimers({ doNotFake: ['nextTick'] });
  try {
    expect(await Promise.all([held(1), held(2)])).toEqual([2, 4]);
    const seen = once(emitter, 'event');
    emitter.emit('event', 3);
    expect(await seen).toEqual([3]);
    expect(await pool.run(4)).toBe(8);
    const texts = [];
    for (let i = 0; i < 2; i++) texts.push(await (await fetch(url)).text());
    jest.setSystemTime(Date.now() + 7_200_000);
    jest.advanceTimersByTime(7_200_000);
    texts.push(await (await fetch(url)).text());
    expect(texts).toEqual(['run 1', 'run 1', 'run 1']);
  } finally {
    jest.useRealTimers();
    await pool.destroy();
    server.closeAllConnections();
    server.close();
  }
});
