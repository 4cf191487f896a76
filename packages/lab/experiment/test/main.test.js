import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { until } from '../../../../scripts/lib/program-tests.js';
import { checkOutlets } from '../results.js';
import { keptIn, processesWith, start, startCompare } from './program.js';
import { folderFor } from './support.js';

const SUPPORT = new URL('./support.js', import.meta.url).href;

/** Writes an experiment whose load is `requests`, as source; the folder's name is in its command lines. */
function write(folder, requests, more = '') {
  const path = join(folder, 'tiny.js');
  writeFileSync(
    path,
    `import { moduleWith, SERVER } from ${JSON.stringify(SUPPORT)};
    const command = [process.execPath, SERVER, ${JSON.stringify(folder)}];
    const module = moduleWith({ control: { command }, treatment: { command }, load: { requests: () => (${requests}) } ${more} });
    export const { question, claim, control, treatment, load, metrics, rounds } = module;`,
  );
  return path;
}

const ONE = "[{ name: 'one', path: '/one', payload: ({ value }) => value }]";
const CLAIM = "{ text: 'Much faster', source: 'a paper', metric: 'one_ms', atLeast: 1000 }";

test('without arguments it shows its usage', async (t) => {
  const said = start(t, []);
  assert.equal(await said.ended, 0, said.errors);
  assert.match(said.output, /^Usage: millrace experiment /);
});

test('a server that dies midway fails it, with its last words; only a long one says how it can be shorter', async (t) => {
  const requests = "[{ name: 'one', path: '/die' }, { name: 'late', path: '/one', at: 600_000 }]";
  const path = write(folderFor(t), requests);
  const ends = async (more) => {
    const said = start(t, [path, ...more]);
    assert.equal(await said.ended, 1, said.errors);
    assert.match(said.errors, /Failed: (slow|fast) ended unexpectedly with code 3/);
    return said.output;
  };
  assert.match(
    await ends([]),
    /^6 runs, .* or more; --size quick makes fewer and shorter ones\.$/m,
  );
  assert.doesNotMatch(await ends(['--rounds', '3']), /--size/);
});

test('an experiment ends in a table and a report, and its raw samples are kept; a folder is made for each', async (t) => {
  const folder = folderFor(t);
  const path = write(folder, ONE, `, claim: ${CLAIM}`);
  const results = join(folder, 'results');
  const html = join(folder, 'new', 'report.html');
  const outlets = ['--results', results, '--html', html];
  const said = start(t, [path, '--size', 'quick', '--seed', '5', ...outlets]);
  assert.equal(await said.ended, 0, said.errors);
  assert.match(readFileSync(html, 'utf8'), /^<!doctype html>/i);
  assert.match(said.output, /^Is it faster\?$/m);
  assert.match(said.output, /^3 runs, \d+ s or more\.$/m);
  assert.match(said.output, /^ *\[3\/3\] round 1, \w.*, done\)$/m);
  assert.match(said.output, /^one, ms/m);
  assert.match(said.output, /"Much faster" \(a paper\)/);
  assert.match(said.output, /seed 5/);
  const [kept] = keptIn(results, 'tiny');
  assert.deepEqual([kept.seed, kept.size, kept.partial, kept.refusal], [5, 'quick', null, null]);
  // On a busy machine a round may have been made again.
  assert.equal(kept.runs.filter(({ discarded }) => !discarded).length, 3);
  assert.ok(kept.runs[0].answers[0].latencyMs > 0);
});

test('--fail-on makes a code of a finding, and of no other, whoever reads the output', async (t) => {
  const folder = folderFor(t);
  const path = write(folder, ONE);
  const args = [path, '--rounds', '1', '--fail-on'];
  // One round shows nothing.
  const found = start(t, [...args, 'undecided', '--results', folder]);
  assert.equal(await found.ended, 4, found.errors);
  assert.match(found.errors, /^--fail-on: one, fast: undecided, .*×.*\.$/m);
  const results = join(folder, 'of another');
  const other = start(t, [...args, 'worse,better', '--results', results]);
  // When the reader of its output goes, the results are kept.
  other.child.stdout.destroy();
  assert.equal(await other.ended, 0, other.errors);
  assert.doesNotMatch(other.errors, /--fail-on/);
  assert.equal(keptIn(results, 'tiny')[0].partial, null);
});

test('with --json stdout carries lines of JSON alone; outside of the working copy the samples stay with who measures', async (t) => {
  const folder = folderFor(t);
  const path = write(folder, ONE, `, claim: ${CLAIM}`);
  const said = start(t, [path, '--rounds', '1', '--json'], { cwd: folder });
  assert.equal(await said.ended, 0, said.errors);
  assert.equal(keptIn(join(folder, 'millrace-results'), 'tiny').length, 1);
  const lines = said.output.trimEnd().split('\n');
  const kinds = lines.map((line) => JSON.parse(line).kind);
  assert.deepEqual(kinds, ['experiment', 'run', 'run', 'run', 'figure', 'claim']);
  assert.match(said.errors, /Is it faster\?/);
});

test('a refusal ends with code 3, the difference and what to do, and no figure', async (t) => {
  const folder = folderFor(t);
  const path = write(folder, "[{ name: 'one', path: '/one' }]");
  const said = start(t, [path, '--size', 'quick', '--results', folder]);
  assert.equal(await said.ended, 3);
  assert.match(said.errors, /Refused, so no figure counts: payload of 'one': .*\nMake the arms do/);
  assert.doesNotMatch(said.output, /one, ms/);
  const [kept] = keptIn(folder, 'tiny');
  assert.match(kept.refusal.why, /^payload of 'one'/);
  assert.deepEqual(kept.figures, []);
});

test('an unknown name is reported with the known ones', async (t) => {
  const folder = folderFor(t);
  const path = write(folder, ONE);
  const unknown = start(t, ['nothing']);
  const duration = start(t, [path, '--duration', '5']);
  assert.equal(await unknown.ended, 2);
  assert.match(
    unknown.errors,
    /nothing is not the file of an experiment.* or compare two commands: millrace compare\.$/m,
  );
  assert.equal(await duration.ended, 2);
  assert.match(
    duration.errors,
    /--duration cannot be combined with tiny: its load \(requests\) has no such/,
  );
});

test('Ctrl-C before a round is whole keeps nothing, and takes the server along', async (t) => {
  const folder = folderFor(t);
  const requests = "[{ name: 'one', path: '/hold' }, { name: 'two', path: '/one', at: 1e8 }]";
  const said = start(t, [write(folder, requests), '--results', folder]);
  // The program has the folder in its command line, too.
  await until(() => processesWith(folder).length >= 2);
  said.child.kill('SIGINT');
  assert.equal(await said.ended, 130, said.errors);
  assert.match(said.errors, /Stopped before the first round was whole/);
  assert.deepEqual([processesWith(folder), keptIn(folder, 'tiny')], [[], []]);
});

test('Ctrl-C later keeps the whole rounds, judges them and says that they are not all', async (t) => {
  const folder = folderFor(t);
  const said = start(t, [write(folder, ONE), '--rounds', '1000', '--results', folder]);
  await said.until(/\[3\/3000\]/);
  said.child.kill('SIGINT');
  assert.equal(await said.ended, 130, said.errors);
  assert.match(said.output, /^one, ms/m);
  assert.match(said.output, /^Partial: stopped after \d+ of 1000 rounds/m);
  const [kept] = keptIn(folder, 'tiny');
  assert.match(kept.partial, /^stopped after [1-9]\d* of 1000 rounds/);
  assert.ok(kept.runs.length >= 3 && kept.figures.length === 1);
  assert.deepEqual(processesWith(folder), []);
});

test('a mistaken file ends as a bad option does, with file and line', async (t) => {
  const path = join(folderFor(t), 'wrong.js');
  writeFileSync(path, "export const question = 'Why?';\nexport const lod = 1;\n");
  const said = start(t, [path]);
  assert.equal(await said.ended, 2);
  assert.match(said.errors, /^Failed: .*wrong\.js:2: the key "lod" is not known/m);
});

for (const [signal, code] of Object.entries({ SIGTERM: 143, SIGHUP: 129 })) {
  test(`${signal} keeps the whole rounds as Ctrl-C does`, async (t) => {
    const folder = folderFor(t);
    const said = start(t, [write(folder, ONE), '--rounds', '1000', '--results', folder]);
    await said.until(/\[3\/3000\]/);
    said.child.kill(signal);
    assert.equal(await said.ended, code, said.errors);
    assert.match(keptIn(folder, 'tiny')[0].partial, /^stopped after [1-9]\d* of 1000 rounds/);
    assert.deepEqual(processesWith(folder), []);
  });
}

test('a second Ctrl-C ends it, though a server does not want to end', async (t) => {
  const folder = folderFor(t);
  const stubborn = join(folder, 'stubborn.cjs');
  writeFileSync(
    stubborn,
    `process.on('SIGTERM', () => console.log('no'));
    const up = () => require('fs').writeFileSync(__filename + '.up', '');
    require('http').createServer((q, r) => r.end('x')).listen(Number(process.argv[2]), '127.0.0.1', up);`,
  );
  const command = `${process.execPath} ${stubborn} {port}`;
  const said = startCompare(t, [
    ...[command, `${command} b`, '--url', 'http://127.0.0.1:{port}/'],
    ...['--proof', 'x', '-d', '3600', '--results', folder],
  ]);
  await until(() => existsSync(`${stubborn}.up`));
  // Again and again: of two that come while a busy process does not run, it sees one.
  const pressing = setInterval(() => said.child.kill('SIGINT'), 300);
  t.after(() => clearInterval(pressing));
  assert.equal(await said.ended, 130, said.errors);
  assert.deepEqual(processesWith(stubborn), []);
});

test('an unwritable folder is reported before anything is measured', async (t) => {
  const folder = folderFor(t);
  const path = write(folder, ONE);
  const said = start(t, [path, '--size', 'quick', '--results', '/proc/nowhere/results']);
  assert.equal(await said.ended, 2);
  const why = /^millrace-lab experiment: --results is ".*", where nothing can be written: E/;
  assert.match(said.errors, why);
  assert.equal(said.output, '');
  for (const [name, value] of [
    ['results', join(path, 'folder')],
    ['html', folder],
    ['markdown', join(path, 'report.md')],
  ]) {
    const message = new RegExp(`^--${name} is ".*", where nothing can be written: E`);
    assert.throws(() => checkOutlets({ [name]: value }), { message });
  }
});
