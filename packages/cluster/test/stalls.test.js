/** Stalls of the processes, in the primary: while they last, by its probes, and afterwards. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { get, start } from './program.js';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The probes of a cluster: `ask` once, or `until` an answer passes. */
function probesOf(program) {
  const ask = (path) => get(program.probes.port, path);
  async function until(path, passes) {
    for (;;) {
      const answer = await ask(path);
      if (passes(answer)) return answer;
      await sleep(50);
    }
  }
  return { ask, until };
}

/** A cluster with probes. `block()` blocks one process, until `release()`. */
async function watched(t, options, workers = 2) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-cluster-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'go');
  const program = await start(t, 'plain.js', {
    workers,
    stalls: { log: false, ...options, probes: { port: 0, ...options.probes } },
  });
  const { ask, until } = probesOf(program);
  // The watch of a process starts beside it.
  const pids = await program.pids();
  await until('/metrics', ({ text }) => pids.every((pid) => text.includes(`process="${pid}"`)));
  return {
    program,
    ask,
    async block() {
      program.get(`/block-until?file=${encodeURIComponent(file)}`).catch(() => {});
      await program.wrote('blocked');
    },
    release: () => writeFileSync(file, 'go'),
    until,
  };
}

/** The stalls under way in the function that blocks. A busy machine may have others. */
const blockedOf = ({ text }) =>
  JSON.parse(text).current.filter(({ at }) => at?.function === 'blockUntil');

describe('a stall of a process', () => {
  test('is named by the probes of the primary while it lasts, and counted there afterwards', async (t) => {
    const { program, ask, block, release, until } = await watched(t, {});
    const pids = await program.pids();
    await block();
    const isNamed = (answer) => blockedOf(answer).length > 0;
    const [current, ...others] = blockedOf(await until('/stalls', isNamed));
    assert.deepEqual(others, []);
    assert.ok(pids.includes(current.pid) && current.isOver === false);
    assert.match(current.at.file, /plain\.js$/);
    // The other process goes on, as soon as a busy machine lets it answer.
    assert.equal((await ask('/live')).status, 200);
    await until('/ready', ({ status }) => status === 200);
    const blocked = new RegExp(
      `^millrace_loop_blocked_ms\\{slot="${current.slot}",process="${current.pid}"\\} [1-9]`,
      'm',
    );
    const { text } = await until('/metrics', (answer) => blocked.test(answer.text));
    assert.equal(text.match(/^# TYPE millrace_loop_blocked_ms /gm).length, 1);

    release();
    let over = await program.next('stall');
    while (over.pid !== current.pid || over.id < current.id) over = await program.next('stall');
    assert.deepEqual([over.id, over.slot, over.isOver], [current.id, current.slot, true]);
    assert.equal(over.at.function, 'blockUntil');
    const { stalls, processes } = await program.call('stats');
    const { [over.state]: count } = stalls.counts;
    assert.ok(count >= 1 && stalls.durations[over.state] >= over.duration);
    const mine = processes.find(({ pid }) => pid === over.pid);
    assert.ok(mine.stalls >= 1 && mine.stalledMs >= over.duration);
    const recent = await program.call('recentStalls');
    assert.deepEqual(
      recent.find(({ pid, id }) => pid === over.pid && id === over.id),
      over,
    );
  });

  test('makes the primary unready when no other process is ready, and not live when it lasts', async (t) => {
    const limits = { probes: { readyAfter: 1, liveAfter: 2 } };
    const { program, ask, block, release, until } = await watched(t, limits, 1);
    assert.equal((await until('/ready', ({ status }) => status === 200)).text, 'ready\n');
    await block();
    const [pid] = await program.pids();
    const why = new RegExp(`^no process is ready\nprocess ${pid} \\(slot 1\\): .*blocked`);
    // A watch that a busy machine keeps from answering in time says less.
    await until('/ready', ({ status, text }) => status === 503 && why.test(text));
    await until('/live', ({ status }) => status === 503);
    release();
    for (const path of ['/ready', '/live']) await until(path, ({ status }) => status === 200);
    assert.equal((await ask('/other')).status, 404);
  });
});

describe('probes of a cluster', () => {
  test('whose port is taken are left out with a line, and the cluster serves', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    t.after(() => taken.close());
    const { port } = taken.address();
    const program = await start(t, 'plain.js', { stalls: { probes: { port } } });
    await program.logged(`probes cannot listen on 127.0.0.1:${port}: the port is taken`);
    assert.equal(program.probes, null);
    assert.equal((await program.get()).status, 200);
  });

  test('trust no other program on the port of a watch, whatever it answers', async (t) => {
    const program = await start(t, 'watched-elsewhere.js', {
      stalls: { log: false, probes: { port: 0 } },
    });
    const { ask, until } = probesOf(program);
    const [pid] = await program.pids();
    const other = await anotherProgram(t);
    await program.get(`/?port=${other.port}`);
    // The primary may hear of it later.
    while (other.asked === 0) await ask('/live');
    for (const [name, reply] of Object.entries(replies(pid))) {
      const before = other.asked;
      other.reply = reply;
      do {
        const all = ['/live', '/metrics', '/stalls'].map(ask);
        const [live, metrics, stalls] = await Promise.all(all);
        assert.deepEqual([live.status, metrics.status, metrics.text], [200, 200, ''], name);
        assert.deepEqual(JSON.parse(stalls.text).current, [], name);
        await until('/ready', ({ status }) => status === 200);
        // A busy machine may have let no question through in time.
      } while (other.asked === before);
    }
    assert.deepEqual(await program.pids(), [pid]);
    assert.equal((await program.call('stats')).deaths, 0);
  });

  test('count a process that nothing watches as the primary knows it', async (t) => {
    const { program, ask } = await watched(t, {}, 1);
    const [pid] = await program.pids();
    process.kill(pid, 'SIGKILL');
    await program.next('death');
    await program.next('ready');
    const { processes } = await program.call('stats');
    assert.equal(processes.length, 1);
    // Its watch may not have told yet where it is.
    assert.equal((await ask('/live')).status, 200);
  });
});

/** A program on a port. It counts the questions, and does with a connection what `reply` says. */
async function anotherProgram(t) {
  const sockets = new Set();
  const other = { port: 0, asked: 0, reply: (socket) => socket.end() };
  const server = createServer((socket) => {
    sockets.add(socket);
    // The client may be gone.
    socket.on('error', () => {});
    socket.once('data', () => {
      other.asked++;
      other.reply(socket);
    });
  });
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  other.port = server.address().port;
  return other;
}

/** Answers that are none of a watch. Some have the mark of the process, so that nothing but their form is wrong. */
function replies(pid) {
  const response = (head, body) => (socket) =>
    socket.end(`HTTP/1.1 ${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  const mark = `millrace-pid: ${pid}`;
  return {
    'nothing, and closes': (socket) => socket.end(),
    'a reset': (socket) => socket.resetAndDestroy(),
    silence: () => {},
    'another protocol': (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
    'as if it was blocked': response('503 Service Unavailable', 'blocked\n'),
    'for another process': response(`503 Service Unavailable\r\nmillrace-pid: ${pid + 1}`, '{'),
    'metrics of its own': response('200 OK', 'millrace_loop_blocked_ms 7\n'),
    'that it knows no such page': response(`404 Not Found\r\n${mark}`, '{"current":{}}'),
    'that it speaks another protocol': response(
      `101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n${mark}`,
      '',
    ),
    'no JSON': response(`200 OK\r\n${mark}`, 'x'),
    'other JSON': response(`200 OK\r\n${mark}`, 'null'),
    'less than it says': (socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n${mark}\r\ncontent-length: 9\r\n\r\nx`),
    'a head without an end': (socket) => pour(socket, 'HTTP/1.1 200 OK\r\nx: '),
    'a body without an end': (socket) => pour(socket, `HTTP/1.1 200 OK\r\n${mark}\r\n\r\n`),
    'a byte at a time': (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${mark}\r\n\r\n`);
      const timer = setInterval(() => socket.write('x'), 20);
      socket.once('close', () => clearInterval(timer));
    },
  };
}

/** Sends without an end, until the other side has enough. */
function pour(socket, head) {
  const piece = 'x'.repeat(2 ** 16);
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.write(head);
  socket.on('drain', more);
  more();
}
