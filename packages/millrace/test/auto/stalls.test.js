/** The feature stalls: programs that block under millrace/auto. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { preloads, run, runJson } from './run.js';

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
