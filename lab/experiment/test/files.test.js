import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { experimentNames, loadExperiment } from '../files.js';
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

test("each of the project's experiments is well formed", async () => {
  const names = experimentNames();
  assert.ok(names.length > 0);
  for (const name of names) assert.equal((await loadExperiment(name)).name, name);
});

test('a file of any folder is read', async (t) => {
  assert.equal((await loadWith(t)).name, 'tiny');
});

test('a mistake is told with the line of its key', async (t) => {
  for (const [number, line, message] of [
    [
      10,
      "  comand: ['true'],",
      /^experiment tiny, line 10: the key "treatment.comand" .* "command"/,
    ],
    [
      10,
      "  command: 'true',",
      /^experiment tiny, line 10: treatment.command is "true"; it must be/,
    ],
    [5, '', /^experiment tiny, line 3: control.command is missing/],
    [1, "export const qestion = 'why?';", /^experiment tiny, line 1: the key "qestion" is not/],
    [
      13,
      "export const load = { kind: 'htp' };",
      /^experiment tiny, line 13: load.kind is "htp" \(did you mean "http"/,
    ],
    [1, '', /^experiment tiny: question is missing/],
    [7, '}};', /^experiment .*tiny.js, line 7: Unexpected token/],
    [2, "throw new Error('no');", /^experiment .*tiny.js, line 2: no/],
  ]) {
    const told = { code: 'MILLRACE_LAB_E_EXPERIMENT', message };
    await assert.rejects(loadWith(t, number, line), told, line);
  }
});

test('an experiment that is not there is refused with those that are', async () => {
  await assert.rejects(loadExperiment('nothing'), /there is no experiment nothing; allowed are "/);
  await assert.rejects(loadExperiment('compute-heath'), /did you mean "compute-health"\?/);
  await assert.rejects(loadExperiment('/nowhere/nothing.js'), /experiment .*Cannot find module/);
});

test('runs that are shared must be there, and not in a circle', async (t) => {
  const shares = (name) => {
    const path = join(folderFor(t), 'shares.js');
    const lines = [
      `export const sameRunsAs = '${name ?? path}';`,
      "export const question = 'Why?';",
    ];
    writeFileSync(path, lines.join('\n'));
    return loadExperiment(path);
  };
  await assert.rejects(shares('compute-heath'), /there is no experiment compute-heath/);
  await assert.rejects(shares(), /sameRunsAs goes in a circle/);
});
