import assert from 'node:assert/strict';
import test from 'node:test';
import { readDemoArgs, USAGE } from '../args.js';

const DEFAULTS = {
  connections: 500,
  rooms: 10,
  payload: 100,
  rate: undefined,
  rounds: 3,
  seconds: 3,
  seed: 1,
  port: 8080,
  keep: false,
  help: false,
};

test('options have defaults and are read', () => {
  assert.deepEqual(readDemoArgs([]), DEFAULTS);
  assert.deepEqual(readDemoArgs(['--seconds', '1', '--port=0', '--keep']), {
    ...DEFAULTS,
    seconds: 1,
    port: 0,
    keep: true,
  });
  assert.equal(readDemoArgs(['--connections', '4']).rooms, 4);
});

test('a wrong option is answered with its name, its value and what is allowed', () => {
  const cases = [
    ['--seconds 0', '--seconds is "0"; allowed are whole numbers from 1 to 60.'],
    ['--seconds 1.5', '--seconds is "1.5"; allowed are whole numbers from 1 to 60.'],
    ['--port 65536', '--port is "65536"; allowed are whole numbers from 0 to 65535.'],
    ['--rounds many', '--rounds is "many"; allowed are whole numbers from 0 to 20.'],
    ['--rate', '--rate has no value; it takes N.'],
    [
      '--connections 4 --rooms 5',
      '--rooms is "5"; allowed are whole numbers from 1 to the 4 connections.',
    ],
    ['--keep=yes', '--keep takes no value, but has "yes".'],
    ['--colour', 'there is no --colour.'],
    ['now', 'now is not an option.'],
  ];
  for (const [line, message] of cases)
    assert.throws(() => readDemoArgs(line.split(' ')), { message });
});

test('the help names every option', () => {
  for (const name of Object.keys(DEFAULTS)) {
    assert.match(USAGE, new RegExp(`^ {2}(?:-\\w, | {4})--${name} `, 'm'));
  }
});
