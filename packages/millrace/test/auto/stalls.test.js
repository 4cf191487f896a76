/** The feature stalls: programs that block under millrace/auto. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { preloads, programs, run, runJson, start } from './run.js';

/** Blocks again and again, from its first turn on, until a stall is over that is named. */
const blocks = `
  const auto = process[Symbol.for('millrace.auto')];
  let isNamed = false;
  function renderInvoice() {
    const end = performance.now() + 2000;
    while (performance.now() < end);
    if (!isNamed) setTimeout(renderInvoice, 200);
  }
  require('node:diagnostics_channel').subscribe('millrace:stall', ({ at }) => {
    if (isNamed || !at?.function.includes('renderInvoice')) return;
    isNamed = true;
    console.log(JSON.stringify({ state: auto.features.stalls.state, why: auto.features.stalls.why }));
  });
  renderInvoice();
`;

/**
 * Runs the program that is to be debugged: it waits for its debugger, which resumes it at its first line once `whilePaused` has resolved.
 * Resolves with its end and all pauses and resumptions that the debugger was told of.
 */
async function debugged(t, { preload, env }, whilePaused) {
  const args = ['--inspect-brk=127.0.0.1:0', ...preload, join(programs, 'debugged.cjs')];
  const { child, output, ended } = start(args, { env });
  t.after(() => child.kill('SIGKILL'));
  const early = ended.then(({ code, stderr }) => {
    throw new Error(`ended with ${code}: ${stderr}`);
  });
  early.catch(() => {});
  async function wrote(pattern) {
    while (!pattern.test(output.stderr)) await Promise.race([once(child.stderr, 'data'), early]);
    return pattern.exec(output.stderr);
  }

  const [, url] = await wrote(/^Debugger listening on (ws:\S+)\n/m);
  const socket = new WebSocket(url);
  await once(socket, 'open');
  // It has ended.
  socket.on('error', () => {});
  const told = [];
  const paused = new Promise((resolve) => {
    socket.on('message', (data) => {
      const { method, params } = JSON.parse(data);
      if (method === 'Debugger.resumed') told.push('resumed');
      if (method !== 'Debugger.paused') return;
      told.push(`paused: ${params.reason}`);
      resolve();
    });
  });
  let posts = 0;
  const post = (method) => socket.send(JSON.stringify({ id: posts++, method }));
  for (const domain of ['Runtime', 'Debugger']) post(`${domain}.enable`);
  post('Runtime.runIfWaitingForDebugger');
  await Promise.race([paused, early]);
  await whilePaused(wrote);
  assert.equal(told.length, 1, 'it goes on by itself');
  post('Debugger.resume');
  await wrote(/^Waiting for the debugger to disconnect/m);
  socket.close();
  return { ...(await ended), told };
}

describe('the feature stalls', () => {
  for (const [flag, preload] of Object.entries(preloads)) {
    test(`names what blocks a program, ${flag}`, async () => {
      const env = { MILLRACE: 'stalls' };
      const { code, stdout, stderr } = await run([...preload, '--eval', blocks], { env });
      assert.equal(code, 0, stderr);
      assert.deepEqual(JSON.parse(stdout), { state: 'active', why: null });
      assert.match(stderr, /^millrace: event loop (was )?blocked for .*: in .*renderInvoice.* \(/m);
    });
  }

  test('leaves a program that waits for its debugger alone', async (t) => {
    // The watch sees the pause as a stall, and takes samples in it.
    const noticed = (wrote) => wrote(/^millrace: event loop blocked for .* so far, /m);
    const preload = preloads['--require'];
    const [plain, watched] = await Promise.all([
      debugged(t, { preload: [], env: {} }, () => {}),
      debugged(t, { preload, env: { MILLRACE: 'stalls' } }, noticed),
    ]);
    assert.deepEqual([plain.code, plain.stdout], [3, 'ended\n'], plain.stderr);
    const seen = ({ code, signal, stdout, stderr, told }) => ({
      ...{ code, signal, stdout, told },
      // Node.js says that the debugger ends, unless the program is gone before.
      stderr: stderr.replace(/^(millrace: |Debugger (listening|ending) |For help, ).*\n/gm, ''),
    });
    assert.deepEqual(seen(watched), seen(plain));
  });

  test('is off unless it is asked for', async () => {
    const ask =
      "console.log(JSON.stringify(process[Symbol.for('millrace.auto')].features.stalls.state))";
    const state = await runJson([...preloads['--require'], '--eval', ask]);
    assert.equal(state, 'off');
  });

  test('says why it does not watch a worker thread', async () => {
    const code = `
      const { Worker } = require('node:worker_threads');
      const worker = new Worker(
        "const { stalls } = process[Symbol.for('millrace.auto')].features;" +
          "require('node:worker_threads').parentPort.postMessage([stalls.state, stalls.why]);",
        { eval: true },
      );
      worker.on('message', (said) => console.log(JSON.stringify(said)));
    `;
    const env = { MILLRACE: 'stalls' };
    const [state, why] = await runJson([...preloads['--require'], '--eval', code], { env });
    assert.equal(state, 'waiting');
    assert.match(why, /it watches the main thread/);
  });

  test('gives way to a watch of the application', async () => {
    const code = `
      import { stalls } from '@millrace/monitor/stalls';
      const before = stalls();
      const watch = stalls({ limit: 250 });
      console.log(JSON.stringify({ isOther: watch !== before, isThere: stalls() === watch }));
      watch.stop();
    `;
    const env = { MILLRACE: 'stalls' };
    const args = [...preloads['--import'], '--input-type=module', '--eval', code];
    assert.deepEqual(await runJson(args, { env }), { isOther: true, isThere: true });
  });

  test('has its probes in the first process, and says so where the port is taken', async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address();
    const code = `
      const { features } = process[Symbol.for('millrace.auto')];
      if (process.argv[1] === 'child') console.log(features.stalls.why);
      else {
        const check = setInterval(() => {
          if (features.stalls.why === null) return;
          clearInterval(check);
          const { execFileSync } = require('node:child_process');
          const child = execFileSync(process.execPath, [...process.execArgv.slice(0, -1), process.execArgv.at(-1), 'child']);
          console.log(JSON.stringify({ why: features.stalls.why, child: String(child) }));
        }, 20);
      }
    `;
    const env = { MILLRACE_PROBES: `127.0.0.1:${port}` };
    const { stdout, stderr } = await run([...preloads['--require'], '--eval', code], { env });
    const { why, child } = JSON.parse(stdout);
    assert.equal(
      why,
      `probes cannot listen on 127.0.0.1:${port}: the port is taken; choose another one`,
    );
    assert.equal(child, 'null\n');
    assert.ok(stderr.includes(`millrace: ${why}\n`), stderr);
  });
});
