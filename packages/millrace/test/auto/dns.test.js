/** Look-ups of names under auto: equal ones that are under way are one, and a program can tell nothing but the time. */
import assert from 'node:assert/strict';
import dns from 'node:dns';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sources } from '@millrace/base/sources';
import { preloads, programs, run, runJson } from './run.js';

const { DnsPart } = createRequire(import.meta.url)('../../dist/auto/dns.cjs');
const nothing = ['--import', 'data:text/javascript,'];
const withAuto = ['--import', new URL('../../dist/auto/index.js', import.meta.url).href];
/** Node.js of an unknown release is left alone. */
const isUnknown = !/^function lookup\(hostname, options, callback\) \{\s+let hints/.test(
  dns.lookup,
);
const skip = isUnknown && 'this release of Node.js is not known';

test('a program that looks names up sees the same with auto', { skip }, async () => {
  const [plain, auto] = await Promise.all(
    [nothing, withAuto].map((preload) =>
      run([...preload, `${programs}dns-same.mjs`], { env: { UV_THREADPOOL_SIZE: '1' } }),
    ),
  );
  assert.deepEqual([plain.code, plain.stderr], [0, 'plain']);
  assert.deepEqual([auto.code, auto.stderr], [0, 'active']);
  assert.deepEqual(auto.stdout.split('\n'), plain.stdout.split('\n'));
});

for (const [way, preload] of Object.entries(preloads)) {
  test(`30 requests to one host are one look-up with ${way}`, { skip }, async () => {
    const program = [...preload, `${programs}dns-requests.mjs`];
    const { answers, lookups } = await runJson(program);
    assert.deepEqual(
      answers,
      Array.from({ length: 30 }, (_, i) => `/${i}`),
    );
    assert.equal(lookups, 1);
    const off = await runJson(program, { env: { MILLRACE: 'no-dns' } });
    assert.deepEqual(off, { answers, lookups: 30 });
  });
}

/** A part whose Node.js answers what it is told to; each answer is a callback's arguments. */
function partOf(t, settings, answers) {
  const asked = [];
  const { lookup } = dns;
  // biome-ignore format: it has to look like that of Node.js
  dns.lookup = function lookup(hostname, options, callback) {
  let hints = 0;
    hints += asked.push(hostname);
    const told = answers(hostname);
    if (told !== null) setImmediate(callback ?? options, ...told);
    return { hostname, hints };
  };
  const part = new DnsPart(settings);
  t.after(() => {
    part.off();
    dns.lookup = lookup;
  });
  part.on();
  assert.equal(part.why, null);
  const ask = (hostname, options = {}) =>
    new Promise((resolve) => dns.lookup(hostname, options, (...answer) => resolve(answer)));
  return { part, asked, ask };
}

const error = (code) => [Object.assign(new Error(code), { code })];
const known = [null, '10.0.0.1', 4];
const day = 86_400_000;

test('look-ups are counted by who answered them', { skip }, async (t) => {
  const { ask } = partOf(t, { ttl: day }, () => known);
  await Promise.all([ask('a'), ask('a'), ask('a'), ask('b')]);
  const counted = () =>
    sources()
      .find(({ kind }) => kind === 'dns')
      ?.stats();
  while (counted() === undefined) await sleep(1);
  const { lookups, shared, kept } = counted();
  await Promise.all([ask('a'), ask('c'), ask('c')]);
  assert.deepEqual(counted(), { lookups: lookups + 3, shared: shared + 1, kept: kept + 1 });
});

test('without a ttl no answer is kept', { skip }, async (t) => {
  const { asked, ask } = partOf(t, {}, () => known);
  assert.deepEqual(await Promise.all([ask('a'), ask('a'), ask('b')]), [known, known, known]);
  await ask('a');
  assert.deepEqual(asked, ['a', 'b', 'a']);
});

test('a later caller asks anew, however long the first waits for an answer', {
  skip,
}, async (t) => {
  const answers = [null, known];
  const { asked, ask } = partOf(t, {}, () => answers.shift());
  const stuck = [ask('a'), ask('a')];
  // Longer than others may join.
  await sleep(100);
  assert.deepEqual(await Promise.race([...stuck, ask('a')]), known);
  assert.equal(asked.length, 2);
});

test('with a ttl an answer is kept, and each caller gets its own', { skip }, async (t) => {
  const list = [null, [{ address: '10.0.0.1', family: 4 }]];
  const { asked, ask } = partOf(t, { ttl: day }, () => structuredClone(list));
  const [, first] = await ask('a', { all: true });
  first[0].address = 'changed';
  const [, second] = await ask('a', { all: true });
  second.length = 0;
  assert.deepEqual(await ask('a', { all: true }), list);
  await ask('a', { all: true, family: 4 });
  assert.deepEqual(asked, ['a', 'a']);
});

test('an answer comes in a turn of its own, also when it was kept', { skip }, async (t) => {
  const { ask } = partOf(t, { ttl: day }, () => known);
  await ask('a');
  const order = [];
  const answered = ask('a').then(() => order.push('answer'));
  await null;
  order.push('job');
  await answered;
  assert.deepEqual(order, ['job', 'answer']);
});

test('the last answer counts longer when no name server answers', { skip }, async (t) => {
  let answer = known;
  const { asked, ask } = partOf(t, { ttl: 1, staleIfError: day }, () => answer);
  await ask('a');
  answer = error('EAI_AGAIN');
  while (asked.length < 2) {
    await sleep(1);
    await ask('a');
  }
  assert.deepEqual(await Promise.all([ask('a'), ask('a')]), [known, known]);
  assert.equal((await ask('never'))[0].code, 'EAI_AGAIN');
  // That there is no such name is an answer, and ends that of the one before.
  for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
    answer = error(code);
    while ((await ask('a'))[0] === null) await sleep(1);
    assert.equal((await ask('a'))[0].code, code);
  }
});

test('no longer than it may', { skip }, async (t) => {
  let answer = known;
  const { ask } = partOf(t, { ttl: 1, staleIfError: 0 }, () => answer);
  await ask('a');
  answer = error('EAI_AGAIN');
  while ((await ask('a'))[0] === null) await sleep(1);
  assert.equal((await ask('a'))[0].code, 'EAI_AGAIN');
});

test('the answers to a thousand questions are kept, and the oldest goes', { skip }, async (t) => {
  const { asked, ask } = partOf(t, { ttl: day }, () => known);
  for (let i = 0; i <= 1000; i++) await ask(`name ${i}`);
  await ask('name 1');
  assert.equal(asked.length, 1001);
  await ask('name 0');
  assert.equal(asked.length, 1002);
});

test('off() gives Node.js its function back, and what is under way is answered', {
  skip,
}, async (t) => {
  const { part, asked, ask } = partOf(t, { ttl: day }, () => known);
  const ours = dns.lookup;
  const answers = [ask('a'), ask('a')];
  part.off();
  assert.notEqual(dns.lookup, ours);
  assert.deepEqual(await Promise.all(answers), [known, known]);
  await Promise.all([ask('a'), ask('a')]);
  assert.equal(asked.length, 3);
});

test('a function that was replaced before is left alone', { skip }, (t) => {
  const { lookup } = dns;
  t.after(() => {
    dns.lookup = lookup;
  });
  const theirs = (...args) => lookup(...args);
  dns.lookup = theirs;
  const part = new DnsPart({});
  part.on();
  assert.match(part.why, /dns\.lookup was replaced before/);
  assert.equal(dns.lookup, theirs);
});

test('a file says how long answers are kept', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dns-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'millrace.config.json'), JSON.stringify({ dns: { ttl: day } }));
  const twice = `
    import { lookup } from 'node:dns/promises';
    import { PerformanceObserver } from 'node:perf_hooks';
    let lookups = 0;
    const count = (list) => void (lookups += list.getEntriesByType('dns').length);
    const observer = new PerformanceObserver(count);
    observer.observe({ entryTypes: ['dns'] });
    await lookup('localhost');
    const answer = await lookup('localhost');
    while (lookups === 0) await new Promise(setImmediate);
    console.log(JSON.stringify({ answer, lookups }));
  `;
  const args = [...withAuto, '--input-type=module', '-e', twice];
  const { answer, lookups } = await runJson(args, { cwd: folder });
  assert.ok([4, 6].includes(answer.family));
  assert.equal(lookups, 1);
});
