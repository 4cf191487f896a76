import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { judge } from '../judge.js';
import { jsonLines, keep } from '../results.js';
import { costExperiment, gatheredFrom } from './simulation.js';
import { folderFor } from './support.js';

const experiment = costExperiment({
  claim: { text: 't', source: 's', metric: 'cost', atLeast: 2 },
});
const results = judge(
  experiment,
  gatheredFrom(experiment, 6, (_, __, round) => ({ cost: round })),
);

test('keeps all of a result', (t) => {
  const folder = join(folderFor(t), 'new', 'folder');
  const path = keep(results, folder);
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), results);
  assert.deepEqual(readdirSync(folder), ['test-2026-01-01T00-00-00.000Z.json']);
  const none = { ...results, runs: [] };
  assert.deepEqual(JSON.parse(readFileSync(keep(none, folder), 'utf8')), none);
});

/** A name of its own: the folder for temporary files is everybody's. */
const unique = { ...results, experiment: `kept-${process.pid}` };

test('an unwritable folder is reported, with the one used instead', (t) => {
  const file = join(folderFor(t), 'file');
  writeFileSync(file, '');
  assert.throws(
    () => keep(unique, join(file, 'folder')),
    (error) => {
      t.after(() => rmSync(error.path, { force: true }));
      assert.equal(error.code, 'MILLRACE_LAB_E_RESULTS');
      assert.ok(error.message.includes(`${join(file, 'folder')}/kept-`), error.message);
      assert.match(error.message, /ENOTDIR.*they are in /);
      assert.equal(error.path.startsWith(tmpdir()), true);
      assert.deepEqual(JSON.parse(readFileSync(error.path, 'utf8')), unique);
      return true;
    },
  );
});

test('half a file is taken away again', (t) => {
  const folder = folderFor(t);
  const broken = { ...unique, runs: [...unique.runs, { count: 1n }] };
  assert.throws(() => keep(broken, folder), { path: null, message: /and not elsewhere either/ });
  assert.deepEqual(readdirSync(folder), []);
  assert.equal(
    existsSync(join(tmpdir(), `${unique.experiment}-2026-01-01T00-00-00.000Z.json`)),
    false,
  );
});

test('lines of JSON are the head, runs, figures and claims', () => {
  const lines = jsonLines(results).map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ kind }) => kind),
    ['experiment', ...Array(18).fill('run'), 'figure', 'claim'],
  );
  assert.ok(lines.every((line) => line.experiment === 'test'));
  assert.deepEqual(lines[0].notes, []);
  assert.equal('runs' in lines[0], false);
});
