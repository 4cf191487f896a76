import assert from 'node:assert/strict';
import test from 'node:test';
import { readCompareArgs } from '../args.js';

const both = ['node a.js', 'node b.js'];
const url = ['--url', 'http://127.0.0.1:{port}/x'];
const socketIo = [...both, '--ws', 'ws://localhost:1/', '--protocol', 'socket.io'];

test('two commands, a load and nothing else', () => {
  const options = readCompareArgs([...both, ...url]);
  assert.deepEqual([options.a, options.b, options.url], [...both, [url[1]]]);
  assert.deepEqual([options.json, options.rounds, options.rate], [false, undefined, undefined]);
  assert.ok(Number.isInteger(options.seed));
});

test('short flags are those of autocannon, wherever they stand', () => {
  const argv = ['-c', '5', both[0], '-d10', both[1], ...url, '-n', '3'];
  const { a, b, connections, duration, rounds } = readCompareArgs(argv);
  assert.deepEqual([a, b, connections, duration, rounds], [...both, 5, 10, 3]);
  assert.equal(readCompareArgs([...both, ...url, '-R', '500']).rate, 500);
  assert.equal(readCompareArgs(['-h']).help, true);
});

test('a rate of messages may have connections', () => {
  const more = ['--rate', '5', '--connections', '5'];
  assert.equal(readCompareArgs([...both, '--ws', 'ws://localhost:1/', ...more]).rate, 5);
});

const mistakes = [
  [url, "there is no command; give the two that start your server: 'A' 'B'."],
  [
    [both[0], ...url],
    'there is only one command, "node a.js"; give a second one to compare it with.',
  ],
  [
    ['node', 'a.js', 'b.js', ...url],
    'there are 3 commands: "node", "a.js", "b.js"; give two, each in quotes.',
  ],
  [['node a.js', 'node a.js', ...url], 'both commands are "node a.js"; they must differ.'],
  [[...both, ...url, '-n', '0'], '--rounds is "0"; allowed are whole numbers from 1 to 1000.'],
  [[...both, ...url, '-c'], '-c has no value; it takes N.'],
  [[...both, '--control', 'x'], 'there is no --control.'],
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
  [[...both, ...url, '-R', '0.1'], /^--rate 0\.1 in --duration 2 makes 0\.2 requests/],
  [[...both, ...url, '--rate', '1000', '-d', '5000'], /5000000 requests; allowed are 1 /],
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
  [[...both, ...url, '--ignore', '('], /^--ignore is "\(", which is not a regular expression/],
  [[...both, ...url, '--proof', '('], /^--proof is "\(", which is not a regular expression/],
];

for (const [argv, message] of mistakes) {
  test(`a bad option is reported with what is allowed: ${argv.join(' ')}`, () => {
    assert.throws(() => readCompareArgs(argv), { message });
  });
}
