/** A benchmark is one file: a folder that CASES names has one more, and what it gives is found where those of bench/cases are. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { measuredRows } from '../../tables/cells.js';
import { longTable } from '../../tables/pages.js';
import { rowsOf } from '../../tables/rows.js';
import { load } from '../benchmarks.js';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
let folder;

/** Six rounds of a program that sends what it is told. */
const caseFile = (arms) => `
  const rate = { metric: 'sums_per_s', unit: '1/s', better: 'higher' };
  export default {
    question: 'Sums of a test',
    rows: { sums: ['sums of two numbers', ['sums_per_s', 'slow', { figure: 'sums/s' }]] },
    experiments: () => [
      {
        name: 'sums',
        arms: ${JSON.stringify(arms)},
        rounds: 6,
        warmup: 0,
        metrics: [rate],
        peers: { slow: 1.5 },
        bounds: [[rate, 100, 3]],
      },
      { name: 'others', arms: ${JSON.stringify(arms)}, rounds: 6, warmup: 0 },
    ],
  };
`;

function run(script, args, env) {
  return spawnSync(process.execPath, [path(script), ...args], {
    env: { ...process.env, SAVE: '', CASE: '', NAME: '', CASES: folder, ...env },
    encoding: 'utf8',
  });
}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-cases-'));
  const program = join(folder, 'program.mjs');
  writeFileSync(
    program,
    `const [rate, wrong] = process.argv.slice(2);
    process.send({ sums_per_s: Number(rate), wrong: wrong ?? null });`,
  );
  const arms = { fast: [program, 200], slow: [program, 100] };
  writeFileSync(join(folder, 'sums.js'), caseFile(arms));
  const wrong = { ...arms, slow: [program, 100, '1 + 1 was 3'] };
  writeFileSync(join(folder, 'wrong-sums.js'), caseFile(wrong));
});

after(() => rmSync(folder, { recursive: true }));

describe('a case file', () => {
  test('is listed with its question', () => {
    const { stdout, stderr } = run('../../../scripts/bench.js', [], {});
    assert.match(stdout, /^sums +Sums of a test$/m, stderr);
    assert.match(stdout, /^redis +[A-Z]/m);
  });

  test('gives figures with verdicts, and a row of the table of all that was measured', async () => {
    const { status, stdout, stderr } = run('../../run.js', ['sums'], { JSON: '1' });
    assert.equal(status, 0, stderr);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const common = { bench: 'sums', case: 'sums', metric: 'sums_per_s', unit: '1/s', ahead: 2 };
    for (const [line, peer] of [
      [lines[0], null],
      [lines[1], 'slow'],
    ]) {
      const { bench, case: title, metric, unit, ahead, n } = line;
      assert.deepEqual({ bench, case: title, metric, unit, ahead }, common);
      assert.deepEqual([line.peer, line.ours, n], [peer, 200, 6]);
    }
    assert.deepEqual([lines.length, lines[0].bound, lines[1].theirs], [2, 100, 100]);
    assert.match(stderr, />= 3\.00x +not met$/m);
    assert.match(stderr, />= 1\.50x +met$/m);

    const kept = /^raw samples: (.+)$/m.exec(stderr)[1];
    const result = JSON.parse(readFileSync(kept, 'utf8'));
    rmSync(kept);
    const { rows } = await load(join(folder, 'sums.js'));
    const table = longTable(measuredRows(rowsOf('sums', rows), [result]));
    assert.match(
      table,
      /^\| `sums`: sums of two numbers \| sums\/s \| 200 \| slow: 100 \| 2\.00 \| 6 \|$/m,
    );
  });

  test('whose arm says that its result is wrong is refused with what it says', () => {
    const { status, stderr } = run('../../run.js', ['wrong-sums'], {});
    assert.equal(status, 1);
    assert.match(stderr, /^refused: in the case 'sums', slow: 1 \+ 1 was 3$/m);
  });
});

describe('CASE', () => {
  test('runs one experiment of a benchmark', () => {
    const { status, stdout, stderr } = run('../../run.js', ['sums'], { CASE: 'others' });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /^others: round 6 of 6$/m);
    assert.doesNotMatch(stderr, /^sums: round/m);
    rmSync(/^raw samples: (.+)$/m.exec(stdout)[1]);
  });

  test('is refused with the names that there are, where it is none of them', () => {
    const { status, stderr } = run('../../run.js', ['sums'], { CASE: 'products' });
    assert.equal(status, 1);
    assert.match(stderr, /^refused: CASE is 'products'; there are sums, others$/m);
  });

  test('is refused together with SAVE=1, which keeps a run of all cases', () => {
    const { status, stderr } = run('../../run.js', ['sums'], { CASE: 'sums', SAVE: '1' });
    assert.equal(status, 1);
    assert.match(stderr, /^refused: SAVE=1 keeps a run of all cases; leave out CASE$/m);
  });
});
