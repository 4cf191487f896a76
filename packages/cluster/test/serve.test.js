/** What can be served, and how. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { application, fixture, get, launch, start } from './program.js';

test('an application of each kind, one after the other', async (t) => {
  const file = await application(t, '');
  let program = null;
  for (const [name, answer] of Object.entries({
    'express.js': 'express',
    'fastify.js': 'fastify',
    'koa.js': 'koa',
    'promise.js': 'promise',
    'factory.cjs': 'factory',
  })) {
    await writeFile(file, `export { default } from '${pathToFileURL(fixture(name)).href}';`);
    if (program === null) program = await start(t, file, { idleGrace: 0 });
    else await program.call('reload');
    assert.equal((await program.get()).text, answer);
  }
});

for (const [file, answer] of Object.entries({
  'transpiled.cjs': 'transpiled',
  'itself.cjs': 'itself',
})) {
  test(`${file}, the way it comes`, async (t) => {
    const program = await start(t, file);
    assert.equal((await program.get()).text, answer);
  });
}

test('an application that listens by itself may listen on several ports', async (t) => {
  const program = await start(t, 'itself.js', { workers: 2 });
  const { text } = await program.get();
  const [, port] = text.split(' ');
  assert.equal((await get(port, '/')).text, 'other');
});

test('a port that an application listens on no more is closed', async (t) => {
  const program = await start(t, 'briefly.js');
  const { text } = await program.get();
  // As soon as the primary knows.
  const isOpen = async () => (await get(text, '/').catch(({ code }) => code)) !== 'ECONNREFUSED';
  while (await isOpen());
  assert.equal((await program.get('/main')).text, 'main');
});

test('a URL of a file', async (t) => {
  const program = await start(t, pathToFileURL(fixture('promise.js')).href);
  assert.equal((await program.get()).text, 'promise');
});

test('an application and its cluster in one file', async (t) => {
  const program = launch(t, fixture('same-file.js'), [
    '',
    { workers: 2, poolThreads: 1, idleGrace: 0 },
  ]);
  const { address, listening } = await program.next('served');
  const { port } = address;
  assert.equal(listening, false, 'in the primary');
  const { text } = await get(port, '/');
  assert.match(text, new RegExp(`^[0-9.]+ ${port}$`));
  program.child.kill('SIGTERM');
  assert.deepEqual(await program.exited, { code: 0, signal: null });
  const lines = program.stdout.trim().split('\n');
  const told = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  assert.deepEqual(
    told.sort((a, b) => a.slot - b.slot),
    [
      { slot: 1, same: true, port },
      { slot: 2, same: true, port },
    ],
  );
  for (const hook of ['drains', 'closes']) {
    assert.equal(lines.filter((line) => line === hook).length, 2, hook);
  }
});

test('the same in CommonJS', async (t) => {
  const args = await launch(t, fixture('same-file.cjs'), ['', {}]).next('served');
  assert.equal((await get(args.address.port, '/')).text, 'CommonJS');
});

test('an invalid application is named', async (t) => {
  const program = launch(t, fixture('primary.js'), [fixture('number.js'), { crashLimit: 1 }]);
  assert.equal((await program.next('failed')).code, 'MILLRACE_E_WORKER');
  await program.exited;
  assert.match(program.stderr, /42 is no application; it must be a function \(req, res\)/);
});

test('a port that is taken', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address();
  const program = launch(t, fixture('primary.js'), [fixture('plain.js'), { port }]);
  assert.equal((await program.next('failed')).code, 'EADDRINUSE');
  assert.deepEqual(await program.exited, { code: 1, signal: null });
});

test('a port that another server of the process has taken', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const env = { PORT: String(server.address().port) };
  const args = [fixture('itself.cjs'), { port: undefined, crashLimit: 1 }];
  const program = launch(t, fixture('primary.js'), args, { env });
  await program.next('failed');
  await program.exited;
  assert.match(program.stderr, /EADDRINUSE/);
});

test('processes have the environment and arguments that they are given', async (t) => {
  const program = await start(t, 'environment.js', {
    args: ['--one', 'two'],
    execArgv: ['--max-old-space-size=100'],
    env: { GIVEN: 'yes' },
  });
  const { argv, execArgv, given, orders } = JSON.parse((await program.get()).text);
  assert.deepEqual(argv, [fixture('environment.js'), '--one', 'two']);
  assert.deepEqual(execArgv, ['--max-old-space-size=100']);
  assert.deepEqual([given, orders], ['yes', null], 'and nothing else');
});
