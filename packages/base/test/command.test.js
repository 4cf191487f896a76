import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { optionLines, readAllOptions, readOptions, UsageError } from '../dist/command.js';

const options = {
  url: { value: 'URL', meaning: 'what to request' },
  rate: { value: 'N', meaning: 'requests a second', short: 'R' },
  quick: { meaning: 'few rounds' },
};

describe('readOptions()', () => {
  test('ends at the first argument that is none, and does not look at the others', () => {
    assert.deepEqual(readOptions(['--quick', 'app.js', '--what'], options), {
      values: { quick: true },
      rest: ['app.js', '--what'],
      isCut: false,
    });
  });
});

describe('readAllOptions()', () => {
  test('reads options wherever they stand, and keeps each value in order', () => {
    const { values, rest } = readAllOptions(
      ['a', '--url', 'x', 'b', '--quick', '--url=y', '--', '--z'],
      options,
    );
    assert.deepEqual(values, { url: ['x', 'y'], quick: [true] });
    assert.deepEqual(rest, ['a', 'b', '--z']);
    assert.deepEqual(readAllOptions(['-h'], options).values, { help: [true] });
  });

  test('takes the short form of an option, with its value apart or attached', () => {
    for (const argv of [['-R', '5'], ['-R5']]) {
      assert.deepEqual(readAllOptions(argv, options).values, { rate: ['5'] });
    }
    assert.throws(() => readAllOptions(['-x'], options), { message: 'there is no -x.' });
    assert.throws(() => readAllOptions(['-R'], options), {
      message: '-R has no value; it takes N.',
    });
  });

  test('takes a number below 0 or a pattern, and nothing that looks like an option', () => {
    for (const value of ['-1', '-\\d']) {
      assert.deepEqual(readAllOptions(['--rate', value], options).values, { rate: [value] });
    }
    assert.throws(() => readAllOptions(['--rate', '--quick'], options), {
      message: '--rate has no value, but takes N; what follows is --quick.',
    });
  });

  test('names what was probably meant', () => {
    assert.throws(
      () => readAllOptions(['x', '--quik'], options),
      (error) => {
        assert.ok(error instanceof UsageError);
        assert.equal(error.message, 'there is no --quik. Did you mean --quick?');
        return true;
      },
    );
  });
});

test('help breaks a long meaning between words, below its beginning', () => {
  const meaning = 'word '.repeat(30).trim();
  const lines = optionLines({ rate: { value: 'N', meaning } }).split('\n');
  assert.ok(lines.length > 3 && lines.every((line) => line.length <= 80));
  assert.match(lines[0], /^ {6}--rate N {2}word/);
  assert.match(lines[1], /^ {16}word/);
});

test('help has short forms beside long ones, and headings above groups', () => {
  const text = optionLines({
    quick: { meaning: 'few rounds' },
    rate: { value: 'N', meaning: 'requests a second', short: 'R', heading: 'Load' },
  });
  assert.equal(
    text,
    [
      '      --quick   few rounds',
      '',
      'Load:',
      '  -R, --rate N  requests a second',
      '  -h, --help    this text',
    ].join('\n'),
  );
});
