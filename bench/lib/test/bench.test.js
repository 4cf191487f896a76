/** SAVE=1 keeps figures, and refuses those without an interval. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { refusalOf } from '../../tables/store.js';

const bench = new URL('../bench.js', import.meta.url).href;

/** Runs a benchmark of two arms, each of which says that it was run. */
function run(rounds, env) {
  const program = `
    import { runBench } from ${JSON.stringify(bench)};
    const arm = (value) => async () => { console.log('an arm was run'); return { value }; };
    const arms = { ours: arm(2), theirs: arm(1) };
    await runBench('of a test', {
      *experiments() {
        yield { name: 'two arms', arms, rounds: ${rounds}, warmup: 0 };
        process.exit();
      },
    });`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
}

describe('a run of five rounds', () => {
  test('is refused with SAVE=1 before an arm is run, with how many it takes', () => {
    const { status, stdout, stderr } = run(5, { SAVE: '1' });
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(
      stderr,
      /refused: 'two arms' has 5 rounds, and what is kept by SAVE=1 takes at least 6: fewer have no interval of 95 %\n/,
    );
  });

  test('is measured without', () => {
    const { status, stdout } = run(5, { SAVE: '' });
    assert.equal(status, 0);
    assert.equal(stdout.match(/an arm was run/g).length, 10);
  });
});

test('a run of six rounds is measured with SAVE=1', () => {
  const { status, stdout } = run(6, { SAVE: '1' });
  assert.equal(status, 0);
  assert.equal(stdout.match(/an arm was run/g).length, 12);
});

test('a figure of fewer rounds than its case keeps the run from being kept', () => {
  const figures = [
    { case: 'whole', n: 6 },
    { case: 'a part', n: 1 },
  ];
  assert.match(refusalOf({ figures }), /^'a part' has 1 round, .* at least 6/);
  assert.equal(refusalOf({ figures: figures.slice(0, 1) }), null);
});
