import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { serve } from '../../load/test/serve.js';
import { startProgram } from '../../run/server.js';
import { loads } from '../loads/index.js';
import { outcomeOf } from '../loads/outcome.js';
import { times } from '../loads/requests.js';
import { drive } from './drive.js';
import { cleanupFor, folderFor } from './support.js';

test('requests: groups, values and what the first answer was', async (t) => {
  const url = await serve(t, (request, response) => {
    response.statusCode = request.url === '/gone' ? 404 : 200;
    response.setHeader('x-mode', 'quick').end('{"value":1}');
  });
  const requests = [
    { name: 'one', path: '/one', rate: 40, seconds: 0.5 },
    { name: 'gone', path: '/gone', mayFail: true },
  ];
  const run = await drive('requests', { requests, pattern: 'ramp' }, { url });
  assert.equal(run.isClosed, false);
  const [gone, one] = run.work;
  assert.deepEqual([one.name, one.answers, one.bytes], ['one', 11, 11]);
  assert.deepEqual([gone.name, gone.mayFail, gone.status], ['gone', true, { 404: 1 }]);
  assert.deepEqual([run.values.answers, run.values.errors], [11, 1]);
  // A busy machine makes the generator late, and then there are no latencies.
  assert.equal(run.latency === null, run.late !== null);
  assert.equal(run.latency?.n ?? 11, 11);
  assert.match(run.first, /one\n[\s\S]*x-mode: quick/);
  assert.equal(run.answers.length, 12);
  const again = await drive('requests', { requests: () => requests, pattern: 'ramp' }, { url });
  assert.deepEqual(again.work, run.work);
});

test('requests: a warm-up is another list, and none is none', async (t) => {
  const asked = [];
  const url = await serve(t, (request, response) => {
    asked.push(request.url);
    response.end('{}');
  });
  const load = { kind: 'requests', requests: [{ name: 'a', path: '/a' }] };
  const warmup = { ...load, warmup: [{ name: 'w', path: '/w' }] };
  const context = { url, params: {}, timeoutS: 600, phase: 'warmup' };
  assert.equal(await loads.requests.drive({ ...context, load }), null);
  assert.equal(await loads.requests.drive({ ...context, load: warmup }), null);
  assert.deepEqual(asked, ['/w']);
});

test('requests: a loop that was busy all the time was the limit, but not in a moment or with a few requests', () => {
  const saturated = (count, utilization, endMs = 1000) => {
    const request = { name: 'a', path: '/' };
    const answer = { request, dueMs: 0, sentMs: 0, endMs, latencyMs: endMs, status: 200 };
    const answers = Array(count).fill({ ...answer, error: null, bytes: 1, hash: 'x' });
    return outcomeOf(answers, utilization).saturated;
  };
  assert.match(saturated(20, 0.99), /^the load generator was the limit: .* 99 % of the time$/);
  assert.equal(saturated(20, 0.9), null);
  assert.equal(saturated(20, 0.99, 199), null);
  assert.equal(saturated(19, 0.99), null);
});

test('requests: latencies do not count where more than a few requests are sent late', () => {
  const request = { name: 'a', path: '/' };
  const answer = { request, dueMs: 0, sentMs: 5, endMs: 9, latencyMs: 9, status: 200 };
  const answers = (late) =>
    Array.from({ length: 50 }, (_, i) => ({
      ...{ ...answer, error: null, bytes: 1, hash: 'x' },
      ...(i < late && { sentMs: 6 }),
    }));
  const few = outcomeOf(answers(5), 0.5);
  assert.deepEqual([few.late, few.latency.n], [null, 50]);
  const many = outcomeOf(answers(6), 0.5);
  assert.match(many.late, /was late, so that latencies do not count/);
  assert.deepEqual([many.latency, many.percentiles, many.saturated], [null, null, null]);
});

test('requests: a lab that sends late says so', async (t) => {
  let asked = 0;
  const url = await serve(t, (_request, response) => {
    response.end('{}');
    asked += 1;
    if (asked !== 10) return;
    const until = performance.now() + 350;
    while (performance.now() < until);
  });
  const requests = [{ name: 'a', path: '/a', rate: 25, seconds: 1 }];
  const run = await drive('requests', { requests }, { url });
  assert.match(run.late, /was late, so that latencies do not count/);
  assert.deepEqual([run.latency, run.percentiles], [null, null]);
  assert.equal(run.values.answers, 25);
});

test('the patterns of a rate keep its mean, in their form', () => {
  const dueMs = (pattern) =>
    times({ name: 'x', path: '/', rate: 90, seconds: 5, pattern }).map((each) => each.dueMs);
  const within = (list, from, to) => list.filter((ms) => ms >= from && ms < to).length;
  const spikes = dueMs('spikes');
  assert.equal(spikes.length, 450);
  assert.deepEqual([within(spikes, 0, 1000), within(spikes, 2000, 3000)], [50, 250]);
  const ramp = dueMs('ramp');
  assert.equal(ramp.length, Math.round(450 * 0.55));
  assert.ok(within(ramp, 0, 1000) < 20 && within(ramp, 4000, 5000) > 75);
  assert.deepEqual(dueMs('steady').slice(0, 3), dueMs(undefined).slice(0, 3));
  assert.ok(Math.abs(dueMs('steady')[9] - 100) < 0.01);
  assert.throws(() => times({ name: 'x', path: '/', rate: 1, seconds: 1, pattern: 'steep' }), {
    message: "x has pattern steep; it must be 'steady' or 'spikes' or 'ramp'",
  });
});

/** A module that loads as `body` says. */
function script(t, body) {
  const file = join(folderFor(t), 'load.mjs');
  writeFileSync(
    file,
    `export default async function load({ url, seconds, connections, signal, phase, log }) { ${body} }`,
  );
  return file;
}

test('script: what a module returns is the outcome', async (t) => {
  const url = await serve(t, (_request, response) => response.end('x'));
  const file = script(
    t,
    `const latencies = [];
    for (let i = 0; i < connections; i++) {
      const start = performance.now();
      await (await fetch(url)).text();
      latencies.push(performance.now() - start);
    }
    return { answers: connections, latencies, status: { 200: connections }, bytes: 1, values: { phase_ok: phase === 'measure' ? 1 : 0 } };`,
  );
  const run = await drive('script', { file, connections: 7, seconds: 1 }, { url });
  assert.deepEqual(run.work, [
    { name: 'load', answers: 7, status: { 200: 7 }, bytes: 1, payload: null },
  ]);
  assert.equal(run.latency.n, 7);
  assert.deepEqual([run.values.answers, run.values.phase_ok], [7, 1]);
  assert.equal(
    (await drive('script', { file, warmup: 0 }, { url, phase: 'warmup' })).work,
    undefined,
  );
});

test('script: mistakes are named', async (t) => {
  const returns = (value) => script(t, `return ${value};`);
  const mistakes = [
    [returns('5'), /returned 5; it must be an object with answers or work/],
    [returns('{}'), /returned neither answers nor work/],
    [returns("{ answers: 'many' }"), /returned answers "many"; it must be a number from 0/],
    [
      returns('{ answers: 1, latencies: [NaN] }'),
      /returned latencies \[null\]; it must be a list of numbers/,
    ],
    [returns("{ answers: 1, values: { x: 'y' } }"), /values .*; it must be an object of numbers/],
    [
      returns('{ work: [{ answers: 1 }] }'),
      /work .*; it must be a list of objects, each with a name/,
    ],
    [script(t, "throw new Error('no server')"), /failed: no server/],
    ['/nowhere/load.mjs', /load\.file \/nowhere\/load\.mjs: .*Cannot find module/],
  ];
  for (const [file, message] of mistakes) {
    await assert.rejects(drive('script', { file, seconds: 1 }, { url: 'http://127.0.0.1:1' }), {
      code: 'MILLRACE_LAB_E_EXPERIMENT',
      message,
    });
  }
  const none = join(folderFor(t), 'none.mjs');
  writeFileSync(none, 'export const load = 1;');
  await assert.rejects(drive('script', { file: none }), /exports undefined by default; it must be/);
});

test('script: one that does not end is given up, with its signal', async (t) => {
  const file = script(
    t,
    "await new Promise((resolve) => signal.addEventListener('abort', resolve)); globalThis.wasAborted = true;",
  );
  await assert.rejects(drive('script', { file, seconds: 0.1 }, { timeoutS: 0.1 }), {
    code: 'MILLRACE_LAB_E_TIMEOUT',
    message: /had not ended after 0\.2 s/,
  });
  assert.equal(globalThis.wasAborted, true);
});

/** Drives a program of some source. */
function program(t, source, more) {
  const cleanup = cleanupFor(t);
  const command = [process.execPath, '-e', source];
  const server = startProgram({ name: 'it', command, cleanup });
  return drive('program', {}, { server, ...more });
}

test('program: its last line of JSON is the outcome, its marks are the window', async (t) => {
  const source = `
    console.log('begins'); console.log('{"mark":"start"}');
    process.stdin.once('data', () => {
      console.log('{"values":{"wrong":1}}');
      console.log(JSON.stringify({ values: { x: 2 }, latencies: [1, 2, 3], work: [{ name: 'a', answers: 3 }] }));
      console.log('{"mark":"end"}');
      process.stdin.once('data', () => process.exit());
    });`;
  const run = await program(t, source);
  assert.deepEqual(run.marks, ['begin', 'end']);
  assert.deepEqual([run.values.answers, run.values.x, run.values.wrong], [3, 2, undefined]);
  assert.equal(run.latency.p50, 2);
  assert.deepEqual(run.work, [{ name: 'a', answers: 3, status: {}, bytes: 0, payload: null }]);
});

test('program: without marks it is measured to its end', async (t) => {
  const run = await program(t, `console.log('{"values":{"x":1}}')`);
  assert.match(run.notes[0], /^it printed neither answers nor work, so .* was not checked$/);
  const counted = await program(t, `console.log('{"answers":1}')`);
  assert.deepEqual(counted.notes, []);
  assert.deepEqual(run.marks, ['end']);
  assert.deepEqual(run.work[0].answers, 1);
});

test('program: one that fails, prints nothing or does not end is reported', async (t) => {
  await assert.rejects(program(t, "console.error('Error: no'); process.exit(4)"), {
    code: 'MILLRACE_LAB_E_SERVER',
    message: 'it ended with code 4: Error: no',
  });
  await assert.rejects(program(t, "console.log('nothing')"), /it printed no line of JSON/);
  await assert.rejects(
    program(t, `console.log('{"values":5}')`),
    /it printed values 5; it must be/,
  );
  await assert.rejects(program(t, 'setInterval(() => {}, 1000)', { timeoutS: 0.3 }), {
    code: 'MILLRACE_LAB_E_TIMEOUT',
  });
});

test('a key that a function gives wrongly is named', async () => {
  const mistakes = [
    [
      'http',
      { connections: () => 0 },
      'load.connections gave 0; it must be a whole number from 1 to 10000',
    ],
    [
      'http',
      { paths: () => ['a'] },
      'load.paths gave ["a"]; it must be a list of paths, each begins with one \'/\'',
    ],
    ['http', { requests: [{}] }, "load.requests[0].path is undefined; it must begin with one '/'"],
    [
      'http',
      { paths: ['/'], requests: [{ path: '/' }] },
      'load has both requests and paths; it must be one of them, or neither',
    ],
    [
      'requests',
      { requests: () => 5 },
      'load.requests gave 5; it must be a list that is not empty',
    ],
    [
      'requests',
      { requests: () => null.x },
      /^load\.requests of the experiment failed: Cannot read/,
    ],
    ['script', { file: () => '' }, 'load.file gave ""; it must be a text'],
  ];
  for (const [kind, load, message] of mistakes) {
    await assert.rejects(drive(kind, load, { url: 'http://127.0.0.1:1/' }), {
      code: 'MILLRACE_LAB_E_EXPERIMENT',
      message,
    });
  }
});

test('requests: bodies that vary are noted, and compared when what changes is left out', async (t) => {
  const url = await serve(t, (_request, response, n) => response.end(`number ${n}`));
  const requests = [{ name: 'one', path: '/', rate: 40, seconds: 0.2 }];
  const varying = await drive('requests', { requests }, { url });
  assert.deepEqual([varying.work[0].payload, varying.work[0].varies], [null, true]);
  assert.match(varying.notes[0], /^the bodies of 'one' differ within one run/);
  const same = await drive('requests', { requests, normalize: /\d+/ }, { url });
  assert.match(same.work[0].payload, /^[0-9a-f]{12} \(8\)$/);
  assert.deepEqual(same.notes, []);
});

test('requests: too many, or less than one, is a mistake', async (t) => {
  const url = await serve(t, (_request, response) => response.end('{}'));
  const ask = (...requests) => drive('requests', { requests }, { url });
  const one = { name: 'one', path: '/', rate: 1000, seconds: 600 };
  await assert.rejects(ask(one, { ...one, name: 'two' }), {
    code: 'MILLRACE_LAB_E_EXPERIMENT',
    message: /^there are 1,200,000 requests \(rate × seconds of each\); at most 1,000,000/,
  });
  await assert.rejects(ask({ ...one, rate: 0.1, seconds: 2 }), {
    message: 'one has rate 0.1 and seconds 2, which is less than one request',
  });
});
