import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers } from '../../../base/test/random.js';
import { readVector, VectorError } from './reader.js';
import { allVectors } from './runner.js';
import { writeVector } from './write.js';

const read = (...lines) => readVector(['# a name', ...lines].join('\n'), 'test.vec').statements;
const only = (line) => read(line)[0];

test('the name is the sentence of the first line', () => {
  const vector = readVector('#  a full batch leaves \nturn\n', 'a.vec');
  assert.equal(vector.name, 'a full batch leaves');
  assert.equal(vector.file, 'a.vec');
  assert.deepEqual(vector.statements, [{ line: 2, kind: 'operation', op: 'turn' }]);
});

test('comments and empty lines mean nothing, but count as lines', () => {
  const statements = read('', '# turn', '   ', 'turn', '#turn', '\tflush\t');
  assert.deepEqual(
    statements.map(({ line, op }) => [line, op]),
    [
      [5, 'turn'],
      [7, 'flush'],
    ],
  );
});

test('lines may end with a carriage return', () => {
  const { name, statements } = readVector('# a name\r\nturn\r\n', 'test.vec');
  assert.equal(name, 'a name');
  assert.equal(statements[0].op, 'turn');
});

test('config and set have typed options', () => {
  assert.deepEqual(only('config policy=fixed max_batch=3 max_delay=2.5'), {
    line: 2,
    kind: 'config',
    options: { policy: 'fixed', max_batch: 3, max_delay: 2.5 },
  });
  const queue = only('set max_queue=-1 order=type');
  assert.equal(queue.type, null);
  assert.deepEqual(queue.options, { max_queue: -1, order: 'type' });
  const type = only('set a.b priority=high retain=each retain_max_bytes=9007199254740992');
  assert.equal(type.type, 'a.b');
  assert.deepEqual(type.options, { priority: 'high', retain: 'each', retain_max_bytes: 2 ** 53 });
});

test('a push has a class, bytes and a key, or their defaults', () => {
  const push = {
    ...{ line: 2, kind: 'operation', op: 'push', type: 'network', id: 'a-1_x.y' },
    ...{ priority: null, bytes: 0, key: null },
  };
  assert.deepEqual(only('push network a-1_x.y'), push);
  assert.deepEqual(only('push network a-1_x.y low'), { ...push, priority: 'low' });
  assert.deepEqual(only('push network a-1_x.y bytes=7'), { ...push, bytes: 7 });
  assert.deepEqual(only('push network a-1_x.y key=k.1'), { ...push, key: 'k.1' });
  assert.deepEqual(only('push network a-1_x.y high bytes=7 key=k'), {
    ...push,
    ...{ priority: 'high', bytes: 7, key: 'k' },
  });
});

test('at and from carry an operation', () => {
  assert.deepEqual(only('at 1.5'), {
    ...{ line: 2, kind: 'operation', op: 'at' },
    ...{ time: 1.5, operation: null },
  });
  assert.deepEqual(only('at 2 close discard').operation, { op: 'close', discard: true });
  const [from] = read('at 2 from a set network max_batch=1', 'push network a');
  assert.deepEqual(from.operation, {
    ...{ op: 'from', id: 'a' },
    operation: { op: 'set', type: 'network', options: { max_batch: 1 } },
  });
});

test('signals and estimates are for the queue or for one type', () => {
  const all = only('signal utilization=0.5 saving=-1.5 hold_cost=1.5 rate=2');
  assert.equal(all.type, null);
  assert.deepEqual(all.signals, { utilization: 0.5, saving: -1.5, hold_cost: 1.5, rate: 2 });
  assert.deepEqual(only('signal network rate=0.1').signals, { rate: 0.1 });
  assert.deepEqual(only('estimate network rate=0.1'), {
    ...{ line: 2, kind: 'query', query: 'estimate' },
    ...{ type: 'network', values: { rate: 0.1 } },
  });
  assert.deepEqual(only('estimate saving=0 event_cost=1').values, { saving: 0, event_cost: 1 });
});

test('stats name only the keys they check', () => {
  assert.deepEqual(only('stats queued=1 refused.closed=2 wait.low=0.5 retained.bytes=3'), {
    ...{ line: 2, kind: 'query', query: 'stats', type: null },
    values: { queued: 1, 'refused.closed': 2, 'wait.low': 0.5, 'retained.bytes': 3 },
  });
});

test('an outcome of several IDs becomes one statement for each, but a batch stays whole', () => {
  const outcomes = read(
    ...['turn', 'expect 2.5 size a b', 'held a b', 'replayed a a', 'hold 3', 'error a'],
    ...['refused b overloaded', 'refused max_batch invalid', 'unhandled a', 'expired b'],
    ...['push network a', 'push network b'],
  ).filter(({ kind }) => kind === 'outcome');
  assert.deepEqual(
    outcomes.map(({ kind, ...outcome }) => outcome),
    [
      { line: 3, outcome: 'expect', time: 2.5, trigger: 'size', ids: ['a', 'b'] },
      { line: 4, outcome: 'held', id: 'a' },
      { line: 4, outcome: 'held', id: 'b' },
      { line: 5, outcome: 'replayed', id: 'a' },
      { line: 5, outcome: 'replayed', id: 'a' },
      { line: 6, outcome: 'hold', ms: 3 },
      { line: 7, outcome: 'error', id: 'a' },
      { line: 8, outcome: 'refused', id: 'b', code: 'overloaded' },
      { line: 9, outcome: 'refused', id: 'max_batch', code: 'invalid' },
      { line: 10, outcome: 'unhandled', id: 'a' },
      { line: 11, outcome: 'expired', id: 'b' },
    ],
  );
});

test('an ID may be named before the line that pushes it', () => {
  const lines = [
    'fail a',
    'from a cancel b',
    'cancel b',
    'from a push network b',
    'push network a',
  ];
  assert.equal(read(...lines).length, 5);
});

test('the clock of decimal times does not run backwards by rounding', () => {
  assert.equal(read('advance 0.1', 'advance 0.2', 'at 0.3').length, 3);
});

test('the time that a handler will be busy does not move the clock of the lines that follow', () => {
  const [from] = read('from a busy 50', 'at 2 push network a', 'at 3');
  assert.deepEqual(from.operation, { op: 'busy', ms: 50 });
});

// Each line is an error; the message must name the file, the line and the words given here.
const errors = [
  ['jump 3', 2, "unknown word 'jump'", 'advance'],
  [' # note', 2, "unknown word '#'"],
  ['constructor', 2, "unknown word 'constructor'"],
  ['turn\nconfig max_batch=1', 3, "'config' must come before every other operation"],
  ['config max_batch=1\nconfig max_batch=1', 3, 'only once'],
  ['config', 2, 'key=value is missing', 'max_queue_bytes'],
  ['config speed=3', 2, "unknown key 'speed'", 'max_deferral'],
  ['config retain=off', 2, "unknown key 'retain'"],
  ['config toString=1', 2, "unknown key 'toString'"],
  ['config max_batch', 2, "'max_batch' is not of the form key=value"],
  ['config max_batch=', 2, 'key=value'],
  ['config max_batch=1=2', 2, 'key=value'],
  ['config max_batch=1 max_batch=2', 2, "'max_batch' stands twice"],
  ['config policy=lazy', 2, "unknown policy 'lazy'", 'adaptive'],
  ['config order=random', 2, "unknown order 'random'", 'arrival'],
  ['config hold=never', 2, "unknown hold 'never'", 'always'],
  ['config max_batch=1.5', 2, "max_batch '1.5'", 'a whole number'],
  ['config max_batch=ten', 2, "max_batch 'ten'", 'a whole number'],
  ['config max_delay=1e3', 2, "max_delay '1e3'", 'a decimal number'],
  ['config max_delay=.5', 2, "max_delay '.5'", 'a decimal number'],
  ['config max_queue=0x10', 2, "max_queue '0x10'"],
  ['config max_queue=9007199254740993000', 2, 'max_queue'],
  ['set network', 2, 'key=value is missing', 'retain_max_age'],
  ['set network policy=fixed', 2, "unknown key 'policy'", 'priority'],
  ['set network priority=urgent', 2, "unknown priority 'urgent'", 'high, normal, low'],
  ['set network retain=all', 2, "unknown retain 'all'", 'off, first, each'],
  ['set net/work priority=high', 2, "'net/work' is no type"],
  ['at', 2, 'at T [OPERATION]'],
  ['at soon', 2, "the time 'soon'", 'at least 0'],
  ['at -1', 2, "the time '-1'", 'at least 0'],
  ['at 5\nat 4.9', 3, 'time runs backwards', '5 already'],
  ['at 5\nadvance 1\nbusy 1\nat 6.5', 5, 'time runs backwards', '7 already'],
  ['at 5 at 6', 2, "'at T' is followed by 'at'", 'push'],
  ['at 5 config max_batch=1', 2, "followed by 'config'"],
  ['at 5 expect 5 turn a', 2, "followed by 'expect'"],
  ['advance', 2, 'advance T'],
  ['advance 1 2', 2, "'2' is one word too many"],
  ['busy -3', 2, "the time '-3'"],
  ['turn around', 2, "'around' is one word too many"],
  ['flush all', 2, "'all' is one word too many"],
  ['push network', 2, 'a word is missing', 'push TYPE ID'],
  ['push network a\npush stream a', 3, "the ID 'a' is pushed twice"],
  ['push network a\nfrom a push stream a', 3, "'a' is pushed twice"],
  ['push network a!', 2, "'a!' is no ID"],
  ['push network a urgent', 2, "unknown class 'urgent'", 'high, normal, low'],
  ['push network a high low', 2, "'low' is not of the form key=value"],
  ['push network a bytes=1 high', 2, "'high' is not of the form key=value"],
  ['push network a size=1', 2, "unknown key 'size'", 'bytes'],
  ['push network a bytes=-1', 2, "bytes '-1'", 'at least 0'],
  ['push network a bytes=0.5', 2, "bytes '0.5'"],
  ['push network a high bytes=1 x', 2, "'x' is not of the form key=value"],
  ['push network a high bytes=1 key=k x', 2, "'x' is one word too many"],
  ['push network a key=k!', 2, "'k!' is no key"],
  ['push network a key=', 2, "'key=' is not of the form key=value"],
  ['handle', 2, 'handle TYPE'],
  ['handle a b', 2, "'b' is one word too many"],
  ['unhandle é', 2, "'é' is no type"],
  ['cancel', 2, 'cancel ID'],
  ['cancel a', 2, "unknown ID 'a'", 'no push'],
  ['fail a', 2, "unknown ID 'a'"],
  ['turn\nfrom a flush', 3, "unknown ID 'a'"],
  ['push network a\nfrom a cancel b', 3, "unknown ID 'b'"],
  ['push network a\nfrom a', 3, 'no operation', 'unhandle'],
  ['push network a\nfrom a turn', 3, "'from ID' is followed by 'turn'", 'unhandle'],
  ['push network a\nfrom a from a flush', 3, "'from ID' is followed by 'from'"],
  ['push network a\nfrom a at 3 flush', 3, "'from ID' is followed by 'at'"],
  ['push network a\nfrom a toString', 3, "'from ID' is followed by 'toString'"],
  ['signal', 2, 'key=value is missing', 'utilization'],
  ['signal load=1', 2, "unknown key 'load'"],
  ['signal network saving=1', 2, "unknown key 'saving'", 'rate'],
  ['signal event_cost=1', 2, "unknown key 'event_cost'", 'batch_cost'],
  ['signal utilization=1.1', 2, "utilization '1.1'", 'within 0 and 1'],
  ['signal rate=-1', 2, "rate '-1'", 'at least 0'],
  ['signal total=-1.5', 2, "total '-1.5'", 'of at least 0'],
  ['close now', 2, "unknown way to close 'now'", 'discard'],
  ['close discard all', 2, "'all' is one word too many"],
  ['expect 1 turn a', 2, "'expect' has no operation before it"],
  ['turn\nexpect 1 turn', 3, 'expect TIME TRIGGER ID'],
  ['turn\nexpect now turn a\npush network a', 3, "the time 'now'"],
  ['turn\nexpect 1 timeout a\npush network a', 3, "unknown trigger 'timeout'", 'threshold'],
  ['turn\nexpect 1 turn a', 3, "unknown ID 'a'"],
  ['turn\nhold', 3, 'a word is missing'],
  ['turn\nhold -1', 3, "the time '-1'"],
  ['turn\nerror a b\npush network a', 3, "'b' is one word too many"],
  ['turn\nheld', 3, 'held ID'],
  ['turn\nreplayed a', 3, "unknown ID 'a'"],
  ['turn\nrefused a', 3, 'refused ID CODE'],
  ['turn\nrefused a full\npush network a', 3, "unknown code 'full'", 'overloaded'],
  ['turn\nrefused a overloaded', 3, "unknown ID 'a'"],
  ['turn\nrefused speed invalid', 3, "unknown key 'speed'", 'max_batch'],
  ['estimate', 2, 'key=value is missing'],
  ['estimate rate=1', 2, "unknown key 'rate'", 'utilization'],
  ['estimate network saving=1', 2, "unknown key 'saving'", 'rate'],
  ['stats', 2, 'key=value is missing', 'trigger.delay'],
  ['stats depth=1', 2, "unknown key 'depth'", 'depth.high'],
  ['stats trigger.full=1', 2, "unknown key 'trigger.full'"],
  ['stats queued=1.5', 2, "queued '1.5'"],
];

for (const [lines, line, ...words] of errors) {
  test(`an error of the vector: ${lines.replaceAll('\n', ' / ')}`, () => {
    assert.throws(
      () => readVector(`# a name\n${lines}`, 'dir/test.vec'),
      (error) => {
        assert.ok(error instanceof VectorError);
        assert.equal(error.file, 'dir/test.vec');
        assert.equal(error.line, line);
        for (const word of [`dir/test.vec:${line}: `, ...words]) {
          assert.ok(error.message.includes(word), `'${error.message}' does not say '${word}'`);
        }
        return true;
      },
    );
  });
}

for (const text of ['', 'turn\n', '\n# a name\n', '#\nturn\n', '#   \n', ' # a name\n']) {
  test(`a first line that names nothing: ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => readVector(text, 'a.vec'),
      /^VectorError: a\.vec:1: the first line must be/,
    );
  });
}

test('mutated vectors are read or refused with a VectorError, nothing else', () => {
  const random = randomNumbers(1);
  const texts = allVectors().map(({ name, statements }) =>
    writeVector(
      name,
      statements.filter(({ kind }) => kind === 'config' || kind === 'operation'),
    ),
  );
  const pieces = ['#', ' ', '\n', '=', '-', '.', '9', '\0', 'é', 'from ', 'at ', '__proto__', 'e5'];
  let refused = 0;
  for (let round = 0; round < 1500; round++) {
    let text = texts[random(texts.length)];
    for (let times = 1 + random(3); times > 0; times--) {
      const from = random(text.length);
      const to = from + random(4);
      text = text.slice(0, from) + pieces[random(pieces.length)] + text.slice(to);
    }
    try {
      readVector(text, 'mutated.vec');
    } catch (error) {
      if (!(error instanceof VectorError)) throw error;
      refused++;
    }
  }
  assert.ok(refused > 350, `only ${refused} were refused`);
});
