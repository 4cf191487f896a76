import assert from 'node:assert/strict';
import test from 'node:test';
import { serveCounted } from '../../load/test/counted.js';
import { drive } from './drive.js';

/** A server, and what drives a load of it. */
async function loaded(t, answer) {
  const { url, brief, begin } = await serveCounted(t, answer);
  return async (load, more) => {
    const marks = [];
    const context = {
      url,
      begin: () => marks.push('begin') && begin(),
      end: () => marks.push('end'),
    };
    return { ...(await drive('http', { ...brief, ...load }, { ...context, ...more })), marks };
  };
}

test('http: answers are counted by path, in the window that is marked', async (t) => {
  const driven = await loaded(t, (request, response) => response.end(request.url));
  const run = await driven({ paths: ['/a', '/longer'] });
  assert.deepEqual(run.marks, ['begin', 'end']);
  assert.equal(run.isClosed, true);
  assert.deepEqual(run.faults, []);
  const [a, longer] = run.work;
  assert.deepEqual([a.name, a.bytes, longer.name, longer.bytes], ['GET /a', 2, 'GET /longer', 7]);
  assert.deepEqual(a.status, { 200: a.answers });
  assert.equal(a.answers + longer.answers, run.values.answers);
  assert.equal(run.latency.n, run.values.answers);
  assert.ok(a.payload !== null && a.payload !== longer.payload);
  assert.deepEqual(run.percentiles.at(-1), [1, run.latency.max]);
  assert.equal(run.series.answers_per_s.length, Math.floor(run.values.measured_s / 0.25));
  assert.match(run.first, /GET \/a\n[\s\S]*\n\/a/);
});

test('http: bodies have a fingerprint when they are the same, or are but for what is left out', async (t) => {
  const driven = await loaded(t, (_request, response, n) => response.end(`number ${n}`));
  const payload = async (load) => (await driven(load)).work[0].payload;
  assert.equal(await payload({}), null);
  const same = await payload({ normalize: /\d/ });
  assert.notEqual(same, null);
  assert.equal(await payload({ normalize: () => /\d+/g }), same);
});

test('http: other statuses and broken connections are faults, or values where they may be', async (t) => {
  const driven = await loaded(t, (request, response, n) => {
    if (n % 10 === 1) request.socket.resetAndDestroy();
    else response.writeHead(n % 4 === 0 ? 503 : 200).end('x');
  });
  const strict = await driven();
  assert.equal(strict.faults.length, 3);
  assert.match(strict.faults[0], /answers have an unexpected status: 200 \(\d+\), 503 \(\d+\)/);
  assert.match(strict.faults[1], /^\d+ requests had no answer, 0 of them/);
  assert.match(strict.faults[2], /^\d+ requests of the warm-up had no answer/);
  const lenient = await driven({ mayFail: true });
  assert.deepEqual(lenient.faults, []);
  assert.ok(lenient.values.errors > 0 && lenient.values.unexpected > 0);
  assert.equal(lenient.work[0].mayFail, true);
});

test('http: an arm serves a path under another one, and is compared by the first', async (t) => {
  const driven = await loaded(t, (request, response) => response.end(request.url));
  const arm = { routes: { '/a': '/b?fast=1' } };
  const run = await driven({ paths: ['/a?n=2'] }, { arm });
  assert.equal(run.work[0].name, 'GET /a?n=2');
  assert.match(run.first, /\/b\?fast=1&n=2$/);
});

test('http: bodies that vary are noted, and compared when what changes is left out', async (t) => {
  const driven = await loaded(t, (_request, response, n) => response.end(`number ${n % 7}`));
  const varying = await driven();
  assert.deepEqual([varying.work[0].payload, varying.work[0].varies], [null, true]);
  assert.match(varying.notes[0], /^the bodies of 'GET \/' differ within one run/);
  const same = await driven({ normalize: /\d+/ });
  assert.equal(same.work[0].varies, false);
  assert.deepEqual(same.notes, []);
});
