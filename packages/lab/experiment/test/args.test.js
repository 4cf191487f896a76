import assert from 'node:assert/strict';
import test from 'node:test';
import { readExperimentArgs } from '../args.js';

const both = ['--control', 'a', '--treatment', 'b'];
const url = ['--url', 'http://127.0.0.1:{port}/x'];
const socketIo = [...both, '--ws', 'ws://localhost:1/', '--protocol', 'socket.io'];

test('what is given is read, and the rest has its default', () => {
  const options = readExperimentArgs([
    ...both,
    ...url,
    '--url',
    'http://127.0.0.1:{port}/y',
    '--seconds',
    '0.5',
  ]);
  assert.deepEqual([options.control, options.treatment, options.seconds], ['a', 'b', 0.5]);
  assert.equal(options.url.length, 2);
  assert.deepEqual([options.size, options.json, options.samples], ['paper', false, undefined]);
  assert.ok(Number.isInteger(options.seed));
  const env = readExperimentArgs([
    ...both,
    ...url,
    '--control-env',
    'A=1=2',
    '--control-env',
    'B=',
  ]);
  assert.deepEqual(env['control-env'], { A: '1=2', B: '' });
  assert.deepEqual(env['treatment-env'], {});
});

test('-h is --help, and a rate of messages may have connections', () => {
  assert.equal(readExperimentArgs(['-h']).help, true);
  const more = ['--rate', '5', '--connections', '5'];
  assert.equal(readExperimentArgs([...both, '--ws', 'ws://localhost:1/', ...more]).rate, 5);
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
  [['--fail-on', 'worse'], /^--fail-on needs an experiment: its file, or --control/],
  [['--xyzzy'], 'there is no --xyzzy.'],
  [['--treatment', 'a', '--treatment', 'b'], '--treatment is given twice; it can be given once.'],
  [['--seed', '1', '--seed', '1'], '--seed is given twice; it can be given once.'],
  [['a', 'b'], 'there are a and b; name one experiment at a time.'],
  [['node a.js', 'node b.js'], /A command to compare comes after --control or --treatment\.$/],
  [
    ['a', '--url', 'x'],
    '--url cannot be combined with a, which has its own; leave one of them out.',
  ],
  [['--control', 'a'], '--treatment is missing; it takes the command that starts its server.'],
  [['--treatment', 'a'], '--control is missing; it takes the command that starts its server.'],
  [both, '--url or --ws is missing; it says where the servers listen.'],
  [[...both, ...url, '--ws', 'ws://127.0.0.1:1/'], /^--url and --ws are both there/],
  [
    [...both, '--url', 'ws://127.0.0.1/'],
    /begin with http:.* A WebSocket server goes with --ws\.$/,
  ],
  [[...both, '--url', 'example'], /^--url is "example"; it must begin with http:\/\//],
  [[...both, '--url', 'http://example.org/'], /no other one is ever loaded/],
  [
    [...both, '--ws', 'http://127.0.0.1/'],
    /^--ws is "http:\/\/127\.0\.0\.1\/"; it must begin with ws:/,
  ],
  [[...both, ...url, '--url', 'http://127.0.0.1:9/'], /all must be of one server/],
  [[...both, ...url, '--protocol', 'raw'], '--protocol belongs to --ws.'],
  [[...both, '--ws', 'ws://localhost:1/', '--protocol', 'x'], /allowed are raw, chat, socket\.io/],
  [[...both, ...url, '--script', import.meta.filename, '--rate', '5'], /^--script needs one --url/],
  [
    [...both, '--url', 'http://me:secret@127.0.0.1/'],
    '--url is "http://…@127.0.0.1/"; it must have no user and no password.',
  ],
  [[...both, '--url', 'https://127.0.0.1/'], /^--url is "https:.*must begin with http:/],
  [[...both, ...url, ...url], '--url "http://127.0.0.1:{port}/x" is given twice; give it once.'],
  [
    [...both, ...url, '--rate', '5', '--connections', '5'],
    /^--connections cannot be combined with --rate/,
  ],
  [
    [...both, ...url, '--rate', '0.1', '--size', 'quick'],
    /^--rate 0\.1 in --seconds 2 makes 0\.2 requests/,
  ],
  [[...both, ...url, '--rate', '1000', '--seconds', '5000'], /5000000 requests; allowed are 1 /],
  [[...both, ...url, '--health', 'up'], '--health is "up"; it takes a path, which begins with /.'],
  [[...both, ...url, '--script', '/no/x.js'], '--script is "/no/x.js"; there is no file /no/x.js.'],
  [
    [...both, '--ws', 'ws://localhost:1/', '--event', 'x'],
    /^--event belongs to --protocol socket\.io/,
  ],
  [[...socketIo, '--event', 'a"b'], /^--event is "a\\"b"; it takes a name of 1 to 100 bytes/],
  [[...socketIo, '--data', '{text}'], /^--data is \{text\}; it takes arguments as JSON/],
  [[...socketIo, '--data', '"{text}","{text}"'], /with the string "\{text\}" in them once\.$/],
  [[...socketIo, '--to', 'me'], /^--to is "me"; allowed are everyone, others, sender\.$/],
  [[...socketIo, '--to', 'others'], /^--to others needs --rate/],
  [[...both, ...url, '--to', 'sender'], /^--to belongs to --ws/],
  [[...both, '--ws', 'ws://localhost:1/', '--ignore', 'x'], /^--ignore belongs to --url/],
  [
    ['a', '--ignore', 'x'],
    '--ignore cannot be combined with a, which has its own; leave one of them out.',
  ],
  [[...both, ...url, '--ignore', '('], /^--ignore is "\(", which is not a regular expression/],
  [[...both, ...url, '--proof', '('], /^--proof is "\(", which is not a regular expression/],
  [[...both, ...url, '--control-env', '=x'], '--control-env is "=x"; it takes NAME=VALUE.'],
];

for (const [argv, message] of mistakes) {
  test(`a bad option is told with what is allowed: ${argv.join(' ')}`, () => {
    assert.throws(() => readExperimentArgs(argv), { message });
  });
}
