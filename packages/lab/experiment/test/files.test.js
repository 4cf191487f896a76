import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { experimentLines, experimentNames, loadExperiment } from '../files.js';
import { ask } from '../form.js';
import { folderFor } from './support.js';

const LINES = [
  "export const question = 'Is it faster?';",
  'const isOn = () => true;',
  'export const control = {',
  "  name: 'slow',",
  "  command: ['true'],",
  '  isOn,',
  '};',
  'export const treatment = {',
  "  name: 'fast',",
  "  command: ['true'],",
  '  isOn,',
  '};',
  "export const load = { kind: 'requests', requests: () => [{ name: 'one', path: '/' }] };",
  "export const metrics = [{ name: 'm', title: 'm', unit: '', better: 'lower', of: () => 1 }];",
];

/** Loads these lines, one of them replaced. */
function loadWith(t, number, line) {
  const path = join(folderFor(t), 'tiny.js');
  writeFileSync(path, LINES.map((each, i) => (i + 1 === number ? line : each)).join('\n'));
  return loadExperiment(path);
}

test('a folder has its experiments by name, each with its question and its runs', async (t) => {
  const folder = folderFor(t);
  writeFileSync(join(folder, 'tiny.js'), LINES.join('\n'));
  const more = [
    "export const sameRunsAs = 'tiny';",
    "export const question = 'And what else?';",
    LINES.at(-1),
  ];
  writeFileSync(join(folder, 'more.js'), more.join('\n'));
  writeFileSync(join(folder, 'README.md'), '');
  assert.deepEqual(experimentNames(folder), ['more', 'tiny']);
  assert.deepEqual(await experimentLines(folder), [
    'more  And what else? (the runs of tiny)',
    'tiny  Is it faster? (150 runs, 2 min 30 s or more)',
  ]);
});

test('a file of any folder is read', async (t) => {
  assert.equal((await loadWith(t)).name, 'tiny');
});

test('a mistake is reported with the line of its key', async (t) => {
  for (const [number, line, message] of [
    [10, "  comand: ['true'],", /tiny\.js:10: the key "treatment.comand" .* "command"/],
    [10, "  command: 'true',", /tiny\.js:10: treatment.command is "true"; it must be/],
    [5, '', /tiny\.js:3: control.command is missing/],
    [1, "export const qestion = 'why?';", /tiny\.js:1: the key "qestion" is not/],
    [
      13,
      "export const load = { kind: 'htp' };",
      /tiny\.js:13: load.kind is "htp" \(did you mean "http"/,
    ],
    [1, '', /tiny\.js: question is missing/],
    [7, '}};', /tiny\.js:7: Unexpected token/],
    [2, "throw new Error('no');", /tiny\.js:2: no/],
  ]) {
    const told = { code: 'MILLRACE_LAB_E_EXPERIMENT', message };
    await assert.rejects(loadWith(t, number, line), told, line);
  }
});

test('an unknown experiment is reported with the known ones', async (t) => {
  await assert.rejects(loadExperiment('nothing'), /nothing is not the file of an experiment/);
  const folder = folderFor(t);
  writeFileSync(join(folder, 'cache.js'), '');
  await assert.rejects(loadExperiment(join(folder, 'cahce.js')), /; did you mean cache\.js\?$/);
  for (const path of ['/nowhere/nothing.js', 'nothing.mjs']) {
    await assert.rejects(loadExperiment(path), { message: `there is no file ${path}` });
  }
});

test('a file may end in .mjs', async (t) => {
  const path = join(folderFor(t), 'tiny.mjs');
  writeFileSync(path, LINES.join('\n'));
  assert.equal((await loadExperiment(path)).name, 'tiny');
});

test('a later failure is reported with file and line, too', async (t) => {
  const { control } = await loadWith(t, 2, "const isOn = () => { throw new Error('no'); };");
  const told = /isOn of slow of the experiment failed: no \(.*tiny\.js:2\)$/;
  assert.throws(() => ask('isOn of slow', () => control.isOn({})), told);
});

test('runs that are shared must be there, and not in a circle', async (t) => {
  const shares = (name) => {
    const path = join(folderFor(t), 'shares.js');
    const lines = [`export const sameRunsAs = '${name}';`, "export const question = 'Why?';"];
    writeFileSync(path, lines.join('\n'));
    return loadExperiment(path);
  };
  await assert.rejects(shares('nothing'), /there is no file \S*nothing\.js/);
  await assert.rejects(shares('shares'), /sameRunsAs goes in a circle/);
});
