// The command line of tune: one command, a load, and switches.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readTuneArgs } from '../args.js';
import { GROUPS } from '../switches.js';

const command = 'node server.js';
const url = ['--url', 'http://127.0.0.1:{port}/'];

describe('the arguments of tune', () => {
  test('are a command and a load; all switches are tried', () => {
    const options = readTuneArgs([command, ...url]);
    assert.deepEqual([options.command, options.url], [command, [url[1]]]);
    assert.deepEqual([options.only, options.without, options.env], [GROUPS, [], {}]);
    assert.equal(options.forS, undefined);
    assert.ok(Number.isInteger(options.seed));
  });

  test('have the short flags of compare', () => {
    const options = readTuneArgs([command, ...url, '-R', '500', '-d', '3', '-n', '4']);
    assert.deepEqual([options.rate, options.duration, options.rounds], [500, 3, 4]);
    assert.equal(readTuneArgs([command, ...url, '-c', '9']).connections, 9);
    assert.equal(readTuneArgs(['-h']).help, true);
  });

  test('choose switches, and add some', () => {
    const more = ['--only', 'threadpool, auto', '--without=auto fs', '--for', '10m'];
    const own = ['--env', 'WEB_CONCURRENCY=2', '--env', 'MODE=a=b'];
    const options = readTuneArgs([command, ...url, ...more, ...own]);
    assert.deepEqual(options.only, ['threadpool', 'auto']);
    assert.deepEqual(options.without, ['auto fs']);
    assert.deepEqual(options.env, { WEB_CONCURRENCY: '2', MODE: 'a=b' });
    assert.equal(options.forS, 600);
  });

  for (const [argv, message] of [
    [url, "there is no command; give the one that starts your server: 'COMMAND'."],
    [['node', 'a.js', ...url], /^there are 2 commands: "node", "a\.js"; give one, in quotes/],
    [[command], '--url is missing; it says where the server listens.'],
    [[command, '--url', 'http://example.org/'], /no other one is ever loaded/],
    [[command, ...url, '--only', 'threads'], /^--only has "threads"; allowed are semi-space, /],
    [[command, ...url, '--without', 'auto wss'], /"auto wss"; .* Did you mean auto ws\?$/],
    [[command, ...url, '--env', 'X'], /^--env is "X"; it takes NAME=VALUE/],
    [[command, ...url, '--env', 'X=1', '--env', 'X=2'], /^--env has X twice/],
    [[command, ...url, '--for', 'soon'], /^--for is "soon"/],
    [[command, ...url, '--rate', '5', '--connections', '5'], /cannot be combined/],
    [[command, ...url, '--health', 'up'], /it takes a path/],
    [[command, ...url, '--ignore', '('], /which is not a regular expression/],
    [[command, ...url, '-n', '0'], '--rounds is "0"; allowed are whole numbers from 1 to 1000.'],
  ]) {
    test(`are refused: ${argv.join(' ')}`, () => {
      assert.throws(() => readTuneArgs(argv), { message });
    });
  }
});
