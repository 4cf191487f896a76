import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { until } from '../../../../scripts/lib/program-tests.js';
import { Child } from '../child.js';
import { Cleanup } from '../cleanup.js';
import { startProgram, startServer } from '../server.js';
import { freePort } from '../up.js';

const HTTP = "require('http').createServer((q, r) => r.end('{}'))";
const LISTENING = `const s = ${HTTP}; s.listen(0, '127.0.0.1', () => console.log('listening on http://127.0.0.1:' + s.address().port));`;
const node = (source) => [process.execPath, '-e', source];

function starter(t) {
  const cleanup = new Cleanup();
  t.after(() => cleanup.run());
  return (options) => startServer({ name: 'it', cleanup, startMs: 600_000, ...options });
}

/** Time in ms for a server to end by itself: on a busy machine it takes its time, and is not to be killed. */
const GRACE_MS = 600_000;

/** Whether a process is there and has not ended. */
function isAlive(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('the first and the last output of a server is kept', async (t) => {
  const start = starter(t);
  const server = await start({
    command: node(
      `console.log('first'); console.error('x'.repeat(90_000), 'middle', 'x'.repeat(90_000)); ${LISTENING}`,
    ),
  });
  assert.match(server.output, /x{1000}/);
  assert.match(server.output, /^first/);
  assert.ok(!server.output.includes('middle'));
  assert.ok(Buffer.byteLength(server.output) <= 2 * 65_536 + 5);
  assert.equal(await server.stop(GRACE_MS), null);
});

test('a proof is found in what comes, also where it is not kept, in whole lines alone', async (t) => {
  const start = starter(t);
  const filler = "console.log('x'.repeat(200_000));";
  const source = `${filler} process.stdout.write('cache: o'); setTimeout(() => { console.log('ff'); console.log('cache: on, é'); ${filler} ${LISTENING} }, 20);`;
  const server = await start({ command: node(source), proof: /^cache: o(n|$)/g });
  assert.equal(server.proof, 'cache: on, é');
  assert.ok(!server.output.includes('cache'));
  const told = node(`console.error('cache: on'); ${LISTENING}`);
  const other = await start({ command: told, proof: /cache/ });
  const none = await start({ command: told, proof: /off/ });
  await other.stop();
  assert.deepEqual([other.proof, none.proof], ['cache: on', null]);
});

test('a server at a known address is up when it answers there', async (t) => {
  const start = starter(t);
  const url = `http://127.0.0.1:${await freePort()}/`;
  const late = `setTimeout(() => ${HTTP}.listen(${new URL(url).port}, '127.0.0.1'), 200)`;
  const server = await start({ command: node(late), url });
  assert.equal((await fetch(server.url)).status, 200);
  await server.stop();
});

test('a server at a known address with a health path has to answer with success', async (t) => {
  const start = starter(t);
  const url = `http://127.0.0.1:${await freePort()}/`;
  const source = `let n = 0; require('http').createServer((q, r) => {
    r.statusCode = q.url === '/up' && ++n > 3 ? 200 : 503; r.end('' + n);
  }).listen(${new URL(url).port}, '127.0.0.1')`;
  await start({ command: node(source), url, health: '/up' });
  assert.equal(await (await fetch(new URL('/', url))).text(), '4');
});

test('a WebSocket server at a known address is up when its port accepts', async (t) => {
  const start = starter(t);
  const url = `ws://127.0.0.1:${await freePort()}/`;
  const source = `require('net').createServer((s) => s.destroy()).listen(${new URL(url).port}, '127.0.0.1')`;
  const server = await start({ command: node(source), url });
  assert.equal(server.url, url);
});

test('a free port is one to listen on, and none that a connection to somewhere else is given', async () => {
  const port = await freePort();
  assert.ok(port >= 10_000 && port <= 32_767, `${port}`);
  const server = net.createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
});

test('rejects a port in use before anything starts', async (t) => {
  const start = starter(t);
  const other = net.createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  const { port } = other.address();
  const url = `http://127.0.0.1:${port}/`;
  await assert.rejects(start({ command: ['/nowhere/at/all'], url }), {
    code: 'MILLRACE_LAB_E_PORT',
    message: new RegExp(`listens on port ${port} already; end it, or write \\{port\\}`),
  });
});

test('a server that never listens is ended and told with what it said last', async (t) => {
  const start = starter(t);
  const folder = mkdtempSync(join(tmpdir(), 'lab-server-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const said = join(folder, 'said');
  const command = ['sh', '-c', `echo pid $$; : > '${said}'; exec sleep 1000`];
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const late = assert.rejects(start({ command, startMs: 2000 }), (error) => {
    assert.equal(error.code, 'MILLRACE_LAB_E_SERVER');
    const [, pid] = /^it was not up after 2 s: pid (\d+)$/.exec(error.message);
    assert.equal(isAlive(pid), false);
    return true;
  });
  // Its output is read in the turns after.
  await until(() => existsSync(said));
  for (let turns = 0; turns < 3; turns += 1) await new Promise(setImmediate);
  t.mock.timers.tick(2000);
  await late;
});

test('a server that listens elsewhere is reported with the address at which it was asked', async (t) => {
  const start = starter(t);
  const url = `http://127.0.0.1:${await freePort()}/`;
  const source = 'setInterval(() => {}, 1000)';
  const message = `it was not up after 0.5 s; it must answer at ${url}up`;
  await assert.rejects(start({ command: node(source), url, health: '/up', startMs: 500 }), {
    message,
  });
});

test('a server that ends is reported with its end and its last output', async (t) => {
  const start = starter(t);
  const cases = [
    ["console.error('Error: no config'); process.exit(3)", /code 3: Error: no config$/],
    ["console.log('nearly'); process.exit(0)", /ended unexpectedly with code 0: nearly$/],
    ["process.kill(process.pid, 'SIGABRT')", /ended unexpectedly with SIGABRT/],
  ];
  for (const [source, message] of cases) {
    await assert.rejects(start({ command: node(source) }), {
      code: 'MILLRACE_LAB_E_SERVER',
      message,
    });
  }
  await assert.rejects(start({ command: ['/nowhere/at/all'] }), /could not be started: .*ENOENT/);
  const server = await start({
    command: node(
      `${LISTENING} process.once('SIGUSR2', () => { console.error('Error: broken'); process.exit(5); })`,
    ),
  });
  process.kill(server.pid, 'SIGUSR2');
  await assert.rejects(server.failed, /^.*it ended unexpectedly with code 5: Error: broken$/);
  assert.equal(await server.stop(GRACE_MS), null);
});

test('a server that ignores SIGTERM is killed, and that is reported', async (t) => {
  const start = starter(t);
  const server = await start({ command: node(`process.on('SIGTERM', () => {}); ${LISTENING}`) });
  const note = await server.stop(300);
  assert.equal(note, 'it was still there 0.3 s after SIGTERM and was ended with SIGKILL');
  assert.equal(isAlive(server.pid), false);
});

/** A process that leaves its group, writes its number, and stays. */
const STRAY = `const { spawn } = require('child_process');
  const stray = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
  stray.unref(); console.log('stray ' + stray.pid);`;
const strayOf = (output) => Number(/^stray (\d+)$/m.exec(output)[1]);

test('a process that left the group of a server is stopped with it', async (t) => {
  const start = starter(t);
  const server = await start({ command: node(`${STRAY} ${LISTENING}`) });
  const stray = strayOf(server.output);
  assert.equal(isAlive(stray), true);
  assert.equal(await server.stop(GRACE_MS), null);
  assert.equal(isAlive(stray), false);
});

test('the port of a stray that had to be killed is free when its server has been stopped', async (t) => {
  const start = starter(t);
  const port = await freePort();
  // It has some memory, which the kernel takes away before the port.
  const deaf = `process.on('SIGTERM', () => {}); globalThis.held = Buffer.alloc(100e6, 1);
    require('net').createServer().listen(${port}, '127.0.0.1', () => process.send('up'));`;
  const server = await start({
    command: node(`const { spawn } = require('child_process');
      const stray = spawn(process.execPath, ['-e', ${JSON.stringify(deaf)}], { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
      stray.once('message', () => { ${LISTENING} });`),
  });
  assert.match(await server.stop(300), /was ended with SIGKILL/);
  const next = net.createServer().listen(port, '127.0.0.1');
  t.after(() => next.close());
  await once(next, 'listening');
});

test('and when the lab itself is ended by force', async (t) => {
  const child = new URL('../child.js', import.meta.url).href;
  const source = `import { Child } from ${JSON.stringify(child)};
    const it = new Child([process.execPath, '-e', ${JSON.stringify(`${STRAY} setInterval(() => {}, 1000)`)}], {});
    it.onLine((line) => console.log(line));`;
  const lab = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => lab.kill('SIGKILL'));
  const [line] = await once(lab.stdout.setEncoding('utf8'), 'data');
  const stray = strayOf(line);
  t.after(() => isAlive(stray) && process.kill(stray, 'SIGKILL'));
  assert.equal(isAlive(stray), true);
  lab.kill('SIGKILL');
  await until(() => !isAlive(stray));
});

test('a lab within a lab, and what that has started, end together, whatever they ignore', async (t) => {
  const start = starter(t);
  const child = new URL('../child.js', import.meta.url).href;
  const deaf = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";
  // Its server has a group and a mark of its own; the guard of that ends with the inner lab, whose mark it has.
  const inner = `import(${JSON.stringify(child)}).then(({ Child }) => {
    const it = new Child([process.execPath, '-e', ${JSON.stringify(`${deaf} console.log('stray ' + process.pid)`)}], {});
    it.onLine((line) => { console.log(line); ${LISTENING} });
  }); ${deaf}`;
  const lab = await start({ command: node(inner) });
  const server = strayOf(lab.output);
  t.after(() => isAlive(server) && process.kill(server, 'SIGKILL'));
  assert.equal(isAlive(server), true);
  assert.match(await lab.stop(300), /was ended with SIGKILL/);
  await until(() => !isAlive(server));
});

test('children of a server are stopped with it, and those that its end has left behind', async (t) => {
  const start = starter(t);
  const child =
    "require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })";
  for (const end of ["process.on('SIGTERM', () => process.exit(0));", '']) {
    const server = await start({
      command: node(`${end} console.log('child ' + ${child}.pid); ${LISTENING}`),
    });
    const [, pid] = /child (\d+)/.exec(server.output);
    assert.equal(isAlive(pid), true);
    assert.equal(await server.stop(GRACE_MS), null);
    assert.equal(isAlive(pid), false);
  }
});

test('a command of a shell is stopped with all its parts', async (t) => {
  const start = starter(t);
  const parts = `cat & ${process.execPath} -e "${LISTENING}"`;
  const server = await start({ command: ['sh', '-c', parts] });
  assert.equal(await server.stop(GRACE_MS), null);
  assert.equal(isAlive(server.pid), false);
  await assert.rejects(fetch(server.url));
});

test('the accounts of a program can be read when it has ended', async (t) => {
  const cleanup = new Cleanup();
  t.after(() => cleanup.run());
  const burn =
    "const end = process.cpuUsage().user + 200_000; while (process.cpuUsage().user < end); console.log('done')";
  const program = startProgram({ name: 'it', command: node(burn), cleanup });
  const lines = [];
  program.onLine((line) => lines.push(line));
  assert.equal(await program.finished, 0);
  assert.ok(lines.includes('done'));
  const stat = readFileSync(`/proc/${program.pid}/stat`, 'latin1').split(') ').at(-1).split(' ');
  assert.ok(
    Number(stat[13]) + Number(stat[14]) >= 20,
    'ticks of 10 ms of children that have ended',
  );
  assert.equal(await program.stop(GRACE_MS), null);
  assert.equal(isAlive(program.pid), false);
});

test('a program that does not end is stopped', async (t) => {
  const cleanup = new Cleanup();
  const program = startProgram({
    name: 'it',
    command: node("console.log('pid ' + process.pid); setInterval(() => {}, 1000)"),
    cleanup,
  });
  const pid = await new Promise((resolve) => {
    program.onLine((line) => resolve(line.split(' ')[1]));
  });
  await cleanup.run();
  assert.equal(isAlive(pid), false);
});

test('a line without an end is cut, and the next one comes whole', async () => {
  const source = `const piece = 'x'.repeat(1e6);
    for (let i = 0; i < 20; i += 1) require('fs').writeSync(1, piece);
    console.log('\\nnext');`;
  const child = new Child([process.execPath, '-e', source], {});
  const lines = [];
  child.onLine((line) => lines.push(line));
  await child.ended;
  assert.ok(lines[0].length >= 16e6 && lines[0].length < 18e6, `${lines[0].length}`);
  assert.equal(lines[1], 'next');
  await child.stop(GRACE_MS);
});

test('a removed listener gets no line', async () => {
  const child = new Child([process.execPath, '-e', "console.log('one\\ntwo')"], {});
  const lines = [];
  const forget = child.onLine((line) => {
    lines.push(line);
    forget();
  });
  await child.ended;
  assert.deepEqual(lines, ['one']);
  await child.stop(GRACE_MS);
});
