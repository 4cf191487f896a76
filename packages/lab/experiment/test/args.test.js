import assert from 'node:assert/strict';
import test from 'node:test';
import { readExperimentArgs } from '../args.js';

test('given options are read, and the others have their defaults', () => {
  const options = readExperimentArgs(['./cache.js', '-n', '3', '--duration', '0.5']);
  assert.deepEqual([options.name, options.rounds, options.duration], ['./cache.js', 3, 0.5]);
  assert.deepEqual([options.size, options.json, options.connections], ['paper', false, undefined]);
  assert.ok(Number.isInteger(options.seed));
  assert.equal(readExperimentArgs(['a', '--resume']).seed, undefined);
  assert.equal(readExperimentArgs(['-h']).help, true);
});

const mistakes = [
  [['--rounds', '0'], '--rounds is "0"; allowed are whole numbers from 1 to 1000.'],
  [['-n', '1.5'], '--rounds is "1.5"; allowed are whole numbers from 1 to 1000.'],
  [['--duration', 'x'], '--duration is "x"; allowed are numbers from 0.5 to 86400.'],
  [
    ['--seed', '4294967296'],
    '--seed is "4294967296"; allowed are whole numbers from 0 to 4294967295.',
  ],
  [['--effect', '-1'], '--effect is "-1"; allowed are numbers from 0.1 to 1000.'],
  [['--connections'], '--connections has no value; it takes N.'],
  [['--json=yes'], '--json takes no value, but has "yes".'],
  [['--size', 'huge'], '--size is "huge"; allowed are quick, medium, paper.'],
  [
    ['--fail-on', 'undecided,wors'],
    '--fail-on is "undecided,wors"; did you mean worse? allowed are worse, undecided, different, no-difference, refused, ' +
      'better, several with commas.',
  ],
  [['--fail-on', 'never'], /^--fail-on is "never"; allowed are worse, /],
  [['--siz', 'x'], 'there is no --siz. Did you mean --size?'],
  [['--hmtl', 'x'], 'there is no --hmtl. Did you mean --html?'],
  [
    ['--fail-on', 'worse'],
    '--fail-on needs the file of an experiment. To compare two commands: millrace compare.',
  ],
  [['--xyzzy'], 'there is no --xyzzy.'],
  [['a', '--seed', '1', '--seed', '1'], '--seed is given twice; it can be given once.'],
  [['a', '--for', '90'], '--for is "90"; it takes a time, as 45s, 90m or 2h.'],
  [['a', 'b'], 'there are a and b; name one experiment at a time.'],
  [['node a.js', 'node b.js'], /To compare two commands: millrace compare\.$/],
];

for (const [argv, message] of mistakes) {
  test(`a bad option is reported with what is allowed: ${argv.join(' ')}`, () => {
    assert.throws(() => readExperimentArgs(argv), { message });
  });
}
