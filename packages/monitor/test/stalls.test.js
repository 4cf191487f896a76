/** Real programs that block their event loop: what the watch says while they do, and afterwards. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { result, run } from './run.js';
import { blocked, stalledSo } from './stalls/run.js';

const isLinux = process.platform === 'linux';
const source = readFileSync(new URL('stalls/program.js', import.meta.url), 'utf8').split('\n');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** For scripts: `stalled(watch)` blocks again and again until a stall is over, and resolves with it. */
const prelude = `
  import { stalls } from '@millrace/monitor/stalls';
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  function spin(onTurn = () => {}) {
    const end = performance.now() + 500;
    while (performance.now() < end) onTurn();
  }
  async function stalled(watch, onTurn) {
    let over = null;
    watch.once('stall', (stall) => (over = stall));
    while (over === null) {
      spin(onTurn);
      await sleep(200);
    }
    return over;
  }
`;

/** The last stall at the function of the program. */
const at = (stalls, name) => stalls.findLast((stall) => stall.at?.function.includes(name));

/** Reports whether the last line about the stall of a start names its function. */
const isNamed = (summaries) =>
  /: in (.* called from )?blockAtStart \(/.test(summaries.at(-1) ?? '');

function assertAt({ at: frame, summary }, kind) {
  assert.equal(frame.file, 'program.js', summary);
  assert.match(source[frame.line - 1], new RegExp(`blocks: ${kind}\\b`), summary);
}

describe('a stall in JavaScript is named while it lasts', () => {
  const cases = {
    loop: 'blockInLoop',
    expression: 'blockInExpression',
    sort: 'compareSlowly',
    gzip: 'blockInGzip',
    wait: 'blockInWait',
    jobs: 'blockInJobs',
    ticks: 'blockInTick',
  };
  for (const [kind, name] of Object.entries(cases)) {
    test(kind, async (t) => {
      const isNamed = (stall) => at([stall], name)?.samples >= 3 && stall.seen === 'during';
      const { program, during } = await stalledSo(t, kind, isNamed);
      assert.ok(isNamed(during), during.summary);
      assert.equal(during.isOver, false);
      assertAt(during, kind);
      await program.logged(' so far, ');
      program.release();
      const { code, stalls, stderr } = await program.end();
      assert.equal(code, 0, stderr);
      const over = at(stalls, name);
      assert.equal(over.isOver, true);
      assert.equal(over.id, during.id);
      assert.ok(over.duration >= during.duration);
      assert.ok(stderr.includes(`millrace: ${over.summary}\n`), stderr);
    });
  }
});

describe('a stall in native code is named when that returns', { skip: !isLinux }, () => {
  for (const [kind, name, call, seen] of [
    ['child', 'blockInChild', /^epoll_p?wait$/, ['after']],
    // Its JavaScript runs between `open` and each `read`, and may be seen there.
    ['fifo', 'blockInFifo', /^open(at)?$/, ['after', 'during']],
  ]) {
    test(kind, async (t) => {
      const isParked = ({ state, duration, at: frame }) =>
        state === 'parked' && duration > 1000 && frame === null;
      const { program, during } = await stalledSo(t, kind, isParked);
      assert.ok(isParked(during), during.summary);
      assert.match(during.systemCall, call);
      assert.match(during.summary, /, asleep in .+; function unknown until native code returns$/);
      program.release();
      const { code, stalls, stderr } = await program.end();
      assert.equal(code, 0, stderr);
      const over = at(stalls, name);
      assert.ok(seen.includes(over.seen), over.seen);
      if (over.seen === 'after') assert.match(over.summary, /, taken when it returned\)$/);
      assertAt(over, kind);
    });
  }
});

describe('the log', () => {
  test('has a line of JSON for each line on request', async (t) => {
    const program = await blocked(t, 'loop', { log: 'json' });
    await program.until((stall) => at([stall], 'blockInLoop')?.samples >= 5);
    program.release();
    const { stderr } = await program.end();
    const lines = stderr.trim().split('\n').map(JSON.parse);
    assert.ok(lines.every(({ type }) => type === 'millrace.stall'));
    assert.ok(lines.some((line) => line.isOver && line.at?.function === 'blockInLoop'));
  });

  test('is silent on request', async (t) => {
    const program = await blocked(t, 'loop', { log: false });
    await program.until((stall) => stall.samples >= 5);
    program.release();
    const { code, stderr } = await program.end();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });

  test('has a limited number of lines in a minute', async () => {
    const { code, stdout, stderr } = await run(`${prelude}
      const watch = stalls({ limit: 20, linesPerMinute: 1 });
      while (watch.recent().length < 6) {
        for (const end = performance.now() + 200; performance.now() < end; );
        await sleep(50);
      }
      console.log(watch.recent().length);
    `);
    assert.equal(code, 0, stderr);
    const count = Number(stdout);
    assert.ok(count >= 6, stdout);
    // Each would have one line, and most of them two.
    assert.ok(stderr.trim().split('\n').length < count, stderr);
  });

  test('does without a stderr that is full', { skip: !existsSync('/dev/full') }, async () => {
    const { code, stdout } = await run(
      `${prelude}
      const watch = stalls();
      await stalled(watch);
      console.log(JSON.stringify(watch.why));
    `,
      { command: ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh'] },
    );
    assert.deepEqual({ code, stdout }, { code: 0, stdout: 'null\n' });
  });

  test('does without a stderr that is closed', async () => {
    const { code, stdout } = await run(`${prelude}
      import { closeSync } from 'node:fs';
      const watch = stalls();
      await stalled(watch);
      closeSync(2);
      await stalled(watch);
      console.log(JSON.stringify(watch.why));
    `);
    assert.deepEqual({ code, stdout }, { code: 0, stdout: 'null\n' });
  });
});

describe('probes', () => {
  test('answer while the loop is blocked', async (t) => {
    const program = await blocked(t, 'loop', { probes: { port: 0, readyAfter: 1 } });
    await program.until((stall) => stall.duration > 200);
    const [live, ready, metrics] = await Promise.all(
      ['/live', '/ready', '/metrics'].map((path) => program.ask(path)),
    );
    assert.equal(live.status, 200);
    assert.equal(ready.status, 503);
    assert.match(await ready.text(), /^the event loop has been blocked for \d+ ms\n$/);
    assert.match(await metrics.text(), /^millrace_loop_blocked_ms [1-9]\d+$/m);
    assert.equal((await program.ask('/other')).status, 404);
    // The dashboard is a page of this machine, whose own server is blocked.
    const origin = 'http://127.0.0.1:7117';
    const { headers } = await program.ask('/stalls', { headers: { origin } });
    assert.equal(headers.get('access-control-allow-origin'), origin);
    program.release();
    assert.equal((await program.end()).code, 0);
  });

  test('fail for a live process after a block that is too long', async (t) => {
    const program = await blocked(t, 'loop', { probes: { port: 0, liveAfter: 1 } });
    await program.until((stall) => stall.duration > 200);
    assert.equal((await program.ask('/live')).status, 503);
    program.release();
    assert.equal((await program.end()).code, 0);
  });

  test('are ready when the application is', async () => {
    const { statuses } = await result(`${prelude}
      const watch = stalls({ limit: 60_000, probes: { port: 0 } });
      while (watch.address === null) await sleep(20);
      const url = 'http://127.0.0.1:' + watch.address.port + '/ready';
      const ask = async (options) => (await fetch(url, options)).status;
      // At first the loop has not turned, as the watchdog knows it.
      while ((await ask()) !== 200);
      watch.ready(false);
      const statuses = [await ask()];
      watch.ready(true);
      statuses.push(await ask(), await ask({ method: 'POST' }));
      console.log(JSON.stringify({ statuses }));
      process.exit();
    `);
    assert.deepEqual(statuses, [503, 200, 405]);
  });

  test('say that their port is taken, and the watch goes on', async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address();
    const { code, stdout, stderr } = await run(`${prelude}
      const watch = stalls({ probes: { port: ${port} } });
      while (watch.why === null) await sleep(20);
      await stalled(watch);
      console.log(watch.address, watch.why);
    `);
    const sentence = `probes cannot listen on 127.0.0.1:${port}: the port is taken; choose another one`;
    assert.deepEqual({ code, stdout }, { code: 0, stdout: `null ${sentence}\n` }, stderr);
    assert.ok(stderr.includes(`millrace: ${sentence}\n`), stderr);
  });
});

describe('a stall', () => {
  test('in the first turn of the program is reported', async () => {
    const summaries = [];
    // A busy machine may take samples too late.
    for (let tries = 0; tries < 10 && !isNamed(summaries); tries++) {
      const place = mkdtempSync(join(tmpdir(), 'millrace-stalls-'));
      const file = join(place, 'go');
      const script = `${prelude}
        import { existsSync } from 'node:fs';
        const watch = stalls({ limit: 100 });
        function blockAtStart() {
          while (!existsSync(${JSON.stringify(file)}));
        }
        blockAtStart();
        while (watch.recent().length === 0) await sleep(20);
        console.log(JSON.stringify(watch.recent()[0].summary));
      `;
      const onError = (stderr) => {
        if (stderr.includes(' so far, ')) writeFileSync(file, 'x');
      };
      summaries.push(await result(script, { onError }));
      rmSync(place, { recursive: true });
    }
    assert.ok(isNamed(summaries), summaries.join('\n'));
  });

  test("in a listener of 'exit' is logged while it lasts", async (t) => {
    // On a busy machine the line may come before the samples.
    for (let tries = 1; ; tries++) {
      const { program } = await stalledSo(t, 'exit', (stall) => at([stall], 'blockAtExit'));
      await program.logged(' so far, ');
      program.release();
      const { code, stderr } = await program.end();
      assert.equal(code, 7);
      assert.doesNotMatch(stderr, /debugger/);
      if (/^millrace: event loop blocked for .*blockAtExit/m.test(stderr)) return;
      assert.ok(tries < 10, stderr);
    }
  });

  test("in a listener of 'stall' is a stall of its own", async () => {
    const [first, second] = await result(`${prelude}
      const watch = stalls({ log: false });
      function blockInListener() {
        spin();
      }
      let isNested = false;
      watch.on('stall', () => {
        if (!isNested) blockInListener();
        isNested = true;
      });
      await stalled(watch);
      const nested = ({ stack }) => stack.some((frame) => frame.function === 'blockInListener');
      while (!watch.recent().some(nested)) {
        isNested = false;
        await stalled(watch);
      }
      const over = watch.recent();
      const index = over.findIndex(nested);
      console.log(JSON.stringify([over[index - 1], over[index]]));
    `);
    assert.equal(second.id, first.id + 1);
    assert.ok(second.duration > 0);
  });
});

describe('the watched program', () => {
  test('keeps pending jobs, its stack limit and its prepareStackTrace', async () => {
    const { changes, calls, samples } = await result(`${prelude}
      const watch = stalls({ log: false });
      Error.stackTraceLimit = 7;
      let [jobs, changes, calls] = [0, 0, 0];
      Error.prepareStackTrace = () => String(calls++);
      const keys = Reflect.ownKeys(Error).length;
      const check = () => {
        if (Error.stackTraceLimit !== 7 || Reflect.ownKeys(Error).length !== keys) changes++;
        const before = jobs;
        Promise.resolve().then(() => jobs++);
        process.nextTick(() => jobs++);
        for (let i = 0; i < 1e6; i++) if (jobs !== before) changes++;
      };
      let samples = 0;
      while (samples < 5) samples += (await stalled(watch, check)).samples;
      delete Error.prepareStackTrace;
      console.log(JSON.stringify({ changes, calls, samples }));
    `);
    assert.deepEqual({ changes, calls }, { changes: 0, calls: 0 });
    assert.ok(samples >= 5);
  });

  for (const flag of ['--jitless', '--no-addons', '--enable-source-maps']) {
    test(`is watched with ${flag}`, async () => {
      // The first stalls may be those of a machine that is busy.
      const script = `${prelude}
        const watch = stalls({ log: false });
        let names = [];
        while (!names.includes('spin')) {
          names = (await stalled(watch)).stack.map((frame) => frame.function);
        }
        console.log(JSON.stringify(names));
      `;
      const names = await result(script, { nodeArgs: [flag, '--no-warnings'] });
      assert.ok(names.includes('stalled'), String(names));
    });
  }

  test('is watched with --frozen-intrinsics, without names', async () => {
    const script = `${prelude}
      const watch = stalls({ log: false });
      let summary = '';
      while (!summary.includes('unknown:')) ({ summary } = await stalled(watch));
      console.log(JSON.stringify(summary));
    `;
    const nodeArgs = ['--frozen-intrinsics', '--no-warnings'];
    const summary = await result(script, { nodeArgs });
    assert.match(summary, /; function unknown: errors of this program have no stacks, /);
  });

  test('is not paused while it listens for a debugger, and a stall without a name says so', async () => {
    const script = `${prelude}
      import { Session } from 'node:inspector/promises';
      const session = new Session();
      session.connect();
      await session.post('Debugger.enable');
      let paused = 0;
      session.on('Debugger.paused', () => paused++);
      async function spinInJobs() {
        const end = performance.now() + 1000;
        while (performance.now() < end) await null;
      }
      const watch = stalls({ log: false });
      const told = [];
      watch.on('stall', ({ at, summary }) => told.push({ at, summary }));
      while (told.length < 3) {
        await spinInJobs();
        await sleep(200);
      }
      // Pauses are told before this is answered.
      await session.post('Runtime.evaluate', { expression: '1' });
      console.log(JSON.stringify({ paused, told }));
    `;
    const nodeArgs = ['--inspect=127.0.0.1:0'];
    const { paused, told } = await result(script, { nodeArgs });
    assert.equal(paused, 0);
    const reason =
      /; no function of the program is on the stack, and it is not paused to find one, as it listens for a debugger \(--inspect\)$/;
    for (const { at, summary } of told) {
      // A sample may come while the function itself runs; and all may come too late for a short stall.
      const isLate = summary.endsWith('; function unknown until native code returns');
      if (at === null && !isLate) assert.match(summary, reason);
    }
  });

  test('goes on with a debugger session of its own, which sees each pause end', async () => {
    const { paused, resumed, two } = await result(`${prelude}
      import { Session } from 'node:inspector/promises';
      const session = new Session();
      session.connect();
      await session.post('Debugger.enable');
      let [paused, resumed] = [0, 0];
      session.on('Debugger.paused', () => paused++);
      session.on('Debugger.resumed', () => resumed++);
      async function spinInJobs() {
        const end = performance.now() + 1000;
        while (performance.now() < end) await null;
      }
      const watch = stalls({ log: false });
      let told = 0;
      watch.on('stall', () => told++);
      while (told < 3) {
        await spinInJobs();
        await sleep(200);
      }
      const { result } = await session.post('Runtime.evaluate', { expression: '1 + 1' });
      console.log(JSON.stringify({ paused, resumed, two: result.value }));
    `);
    assert.equal(two, 2);
    assert.equal(resumed, paused);
  });

  test('ends at once, with its exit code, and prints nothing', async () => {
    const script =
      "import { stalls } from '@millrace/monitor/stalls'; stalls(); process.exitCode = 7;";
    const { code, stdout, stderr } = await run(script);
    assert.deepEqual({ code, stdout, stderr }, { code: 7, stdout: '', stderr: '' });
  });

  test('ends in the middle of a stall, with its exit code', async () => {
    const { code, stderr } = await run(`${prelude}
      await stalled(stalls());
      spin();
      process.exit(7);
    `);
    assert.equal(code, 7);
    assert.doesNotMatch(stderr, /debugger/);
  });

  test('ends by a signal in the middle of a stall', async (t) => {
    const program = await blocked(t, 'loop');
    await program.until((stall) => stall.samples > 0);
    process.kill(program.pid, 'SIGTERM');
    assert.equal((await program.end()).signal, 'SIGTERM');
  });

  test('may be stopped for a while, which does not count', { skip: !isLinux }, async (t) => {
    const program = await blocked(t, 'loop');
    await program.until((stall) => at([stall], 'blockInLoop')?.agreeing >= 3);
    const from = performance.now();
    const before = await program.until(() => true);
    process.kill(program.pid, 'SIGSTOP');
    await stopped(program.pid);
    const stoppedAt = performance.now();
    await sleep(4000);
    const stoppedMs = performance.now() - stoppedAt;
    process.kill(program.pid, 'SIGCONT');
    const after = await program.until(({ id }) => id === before.id);
    const passedMs = performance.now() - from;
    program.release();
    assert.equal((await program.end()).code, 0);
    // The sleep until its next look may count.
    const ranMs = after.duration - before.duration;
    assert.ok(ranMs < passedMs - stoppedMs + 500, `${ranMs} of ${passedMs}`);
  });
});

/** Resolves when all threads of a process are stopped. */
async function stopped(pid) {
  const folder = `/proc/${pid}/task`;
  const stateOf = (thread) =>
    readFileSync(`${folder}/${thread}/stat`, 'latin1').replace(/^.*\) /, '')[0];
  while (!readdirSync(folder).every((thread) => stateOf(thread) === 'T')) await sleep(20);
}

describe('stalls()', () => {
  test('returns the watch that is there, and refuses other options', async () => {
    const { same, code, message } = await result(`
      import { stalls } from '@millrace/monitor/stalls';
      const watch = stalls({ limit: 200 });
      const same = stalls() === watch;
      try {
        stalls({ limit: 300 });
      } catch ({ code, message }) {
        watch.stop();
        stalls({ limit: 300 }).stop();
        console.log(JSON.stringify({ same, code, message }));
      }
    `);
    assert.equal(same, true);
    assert.equal(code, 'MILLRACE_E_INVALID_OPTION');
    assert.match(
      message,
      /^stalls\(\): there is a watch in this process already; .* stop\(\) it before$/,
    );
  });

  test('refuses to watch a worker thread', async () => {
    const worker = new Worker(
      `import('@millrace/monitor/stalls').then(({ stalls }) => stalls()).catch(({ code, message }) =>
        require('node:worker_threads').parentPort.postMessage({ code, message }));`,
      { eval: true },
    );
    const [{ code, message }] = await once(worker, 'message');
    assert.equal(code, 'MILLRACE_E_RUNTIME');
    assert.match(message, /^stalls\(\): it watches the main thread; /);
    await worker.terminate();
  });

  test('refuses to watch under the permission model', async () => {
    const flag = process.allowedNodeEnvironmentFlags.has('--permission')
      ? '--permission'
      : '--experimental-permission';
    const script = `
      import { stalls } from '@millrace/monitor/stalls';
      try { stalls(); } catch ({ code, message }) { console.log(JSON.stringify({ code, message })); }
    `;
    const { code, message } = await result(script, {
      nodeArgs: [flag, '--allow-fs-read=*', '--allow-worker', '--no-warnings'],
    });
    assert.equal(code, 'MILLRACE_E_RUNTIME');
    assert.match(message, /^stalls\(\): the permission model is on, /);
  });

  test('starts a watchdog that dies once again, and then says why not', async () => {
    const { starts, why } = await result(`
      import { stalls } from '@millrace/monitor/stalls';
      let starts = 0;
      process.on('worker', (worker) => {
        starts++;
        worker.terminate();
      });
      const watch = stalls();
      while (watch.why === null) await new Promise((resolve) => setTimeout(resolve, 20));
      console.log(JSON.stringify({ starts, why: watch.why }));
    `);
    assert.deepEqual({ starts, why }, { starts: 2, why: 'the watchdog has ended' });
  });

  test('tells channels and metrics what is over', async () => {
    const { told, total } = await result(`${prelude}
      import { subscribe } from 'node:diagnostics_channel';
      import { collect } from '@millrace/monitor/metrics';
      const watch = stalls({ log: false });
      let told = 0;
      subscribe('millrace:stall', () => told++);
      await stalled(watch);
      const total = collect()
        .filter(({ name }) => name === 'loop_stalls_total')
        .reduce((sum, { value }) => sum + value, 0);
      console.log(JSON.stringify({ told, total: total - watch.recent().length }));
    `);
    assert.ok(told >= 1);
    assert.equal(total, 0);
  });
});
