import assert from 'node:assert/strict';
import test from 'node:test';
import { readArgs } from '../args.js';

const both = ['--control', 'a', '--treatment', 'b'];
const url = ['--url', 'http://127.0.0.1:{port}/x'];

test('what is given is read, and the rest has its default', () => {
  const options = readArgs([
    ...both,
    ...url,
    '--url',
    'http://127.0.0.1:{port}/y',
    '--seconds',
    '0.5',
  ]);
  assert.deepEqual([options.control, options.treatment, options.seconds], ['a', 'b', 0.5]);
  assert.equal(options.url.length, 2);
  assert.deepEqual([options.quick, options.json, options.samples], [false, false, undefined]);
  assert.ok(Number.isInteger(options.seed));
  const env = readArgs([...both, ...url, '--control-env', 'A=1=2', '--control-env', 'B=']);
  assert.deepEqual(env['control-env'], { A: '1=2', B: '' });
  assert.deepEqual(env['treatment-env'], {});
});

const mistakes = [
  [['--samples', '0'], '--samples is "0"; allowed are whole numbers from 1 to 1000.'],
  [['--samples', '1.5'], '--samples is "1.5"; allowed are whole numbers from 1 to 1000.'],
  [['--seconds', 'x'], '--seconds is "x"; allowed are numbers from 0.5 to 86400.'],
  [
    ['--seed', '4294967296'],
    '--seed is "4294967296"; allowed are whole numbers from 0 to 4294967295.',
  ],
  [['--effect', '-1'], '--effect is "-1"; allowed are numbers from 0.1 to 1000.'],
  [['--connections'], '--connections has no value; allowed are whole numbers from 1 to 10000.'],
  [['--quick=yes'], '--quick is "yes"; it takes no value.'],
  [['--quik'], /^--quik is not an option \(did you mean "quick"\?\); allowed are/],
  [['a', 'b'], 'There are a and b; allowed is one experiment at a time.'],
  [['a', '--url', 'x'], '--url does not go with a, which has its own; leave one of them out.'],
  [['--control', 'a'], '--treatment is missing; it takes the command that starts its server.'],
  [['--treatment', 'a'], '--control is missing; it takes the command that starts its server.'],
  [both, '--url or --ws is missing; it says where the servers listen.'],
  [[...both, ...url, '--ws', 'ws://127.0.0.1:1/'], /^--url and --ws are both there/],
  [[...both, '--url', 'example'], /^--url is "example"; it must begin with http:\/\//],
  [[...both, '--url', 'http://example.org/'], /no other one is ever loaded/],
  [
    [...both, '--ws', 'http://127.0.0.1/'],
    /^--ws is "http:\/\/127\.0\.0\.1\/"; it must begin with ws:/,
  ],
  [[...both, ...url, '--url', 'http://127.0.0.1:9/'], /all must be of one server/],
  [[...both, ...url, '--protocol', 'raw'], '--protocol belongs to --ws.'],
  [[...both, '--ws', 'ws://localhost:1/', '--protocol', 'x'], /allowed are raw, chat, socket\.io/],
  [[...both, ...url, '--script', 'x.js', '--rate', '5'], /^--script needs one --url/],
  [[...both, ...url, '--proof', '('], /^--proof is "\(", which is no regular expression/],
  [[...both, ...url, '--control-env', '=x'], '--control-env is "=x"; it takes NAME=VALUE.'],
];

for (const [argv, message] of mistakes) {
  test(`a bad option is told with what is allowed: ${argv.join(' ')}`, () => {
    assert.throws(() => readArgs(argv), { message });
  });
}
