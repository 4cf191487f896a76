// Reads conformance vectors. The grammar is the one of conformance/README.md and is frozen: what this
// reader does not know is an error of the vector, never something to skip.

/** The words of the grammar, for the reader and for whoever writes vectors by program. */
export const TRIGGERS = ['size', 'turn', 'priority', 'threshold', 'delay', 'flush', 'close'];
export const CODES = ['overloaded', 'closed', 'cancelled', 'retention', 'already', 'invalid'];
export const CLASSES = ['high', 'normal', 'low'];
export const FROM_OPERATIONS = [
  ...['push', 'cancel', 'flush', 'close', 'set', 'handle', 'unhandle', 'busy'],
];

const NAME = /^[A-Za-z0-9_.-]+$/;
const NUMBER = /^-?\d{1,16}(\.\d{1,9})?$/;

// Kinds of values of keys: a list of words, a name, or a kind of number.
const QUEUE_OPTIONS = {
  policy: ['direct', 'fixed', 'adaptive'],
  order: ['arrival', 'type'],
  max_batch: 'integer',
  max_delay: 'number',
  threshold: 'integer',
  min_saving: 'number',
  max_batch_time: 'number',
  hold: ['tuned', 'always'],
  max_queue: 'integer',
  max_queue_bytes: 'integer',
  max_deferral: 'number',
};
const TYPE_OPTIONS = {
  priority: CLASSES,
  max_batch: 'integer',
  retain: ['off', 'first', 'each'],
  retain_max: 'integer',
  retain_max_bytes: 'integer',
  retain_max_age: 'number',
  merge: ['off', 'on', 'fail'],
};
const PUSH_OPTIONS = { bytes: 'count', key: 'name' };
const SIGNALS = {
  utilization: 'share',
  rate: 'amount',
  total: 'amount',
  batch_cost: 'amount',
  hold_cost: 'amount',
  saving: 'number',
  slowdown: 'number',
};
const ESTIMATES = { ...SIGNALS, event_cost: 'amount', limit: 'count' };
const STATS = Object.fromEntries(
  [
    ...['queued', 'bytes', 'pushed', 'delivered', 'batches', 'cancelled', 'errors', 'unhandled'],
    'superseded',
    ...['retained', 'retained.bytes', 'held', 'replayed', 'expired'],
    ...CLASSES.flatMap((name) => [`depth.${name}`, `wait.${name}`]),
    ...TRIGGERS.map((name) => `trigger.${name}`),
    ...CODES.map((name) => `refused.${name}`),
  ].map((key) => [key, key.startsWith('wait.') ? 'amount' : 'count']),
);
const OPTION_KEYS = new Set([...Object.keys(QUEUE_OPTIONS), ...Object.keys(TYPE_OPTIONS)]);

/** A malformed vector. The message starts with `file:line` and says what would be allowed. */
export class VectorError extends Error {
  constructor(file, line, sentence) {
    super(`${file}:${line}: ${sentence}`);
    this.name = 'VectorError';
    this.file = file;
    this.line = line;
  }
}

/**
 * Reads one vector.
 *
 * Every statement has `line` and `kind`:
 * - `config`: `options`
 * - `operation`: `op`, and by operation `at` time, operation (or null) · `advance`, `busy` ms ·
 *   `push` type, id, priority (or null), bytes, key (or null) · `handle`, `unhandle` type · `cancel`, `fail` id ·
 *   `from` id, operation · `signal` type (or null), signals · `set` type (or null), options ·
 *   `close` discard · `turn`, `flush` nothing more
 * - `outcome`: `outcome`, and by outcome `expect` time, trigger, ids · `hold` ms · `refused` id, code ·
 *   `error`, `unhandled`, `held`, `replayed`, `expired`, `superseded` id (a line with several IDs becomes several statements)
 * - `query`: `query` (`estimate` or `stats`), type (or null), values
 *
 * @param {string} text the file's content
 * @param {string} file its name, for messages
 * @returns {{ name: string, file: string, statements: object[] }} name is the sentence of the first line
 * @throws {VectorError} for anything that the grammar does not allow
 */
export function readVector(text, file) {
  return new Reader(file).read(text);
}

class Reader {
  constructor(file) {
    this.file = file;
    this.line = 1;
    this.clock = 0;
    this.statements = [];
    this.pushed = new Set();
    this.mentioned = []; // [id, line]: must be pushed somewhere in the file
    this.sawOperation = false;
  }

  read(text) {
    const lines = text.split(/\r?\n/);
    const name = /^#\s*(\S.*?)\s*$/.exec(lines[0])?.[1];
    if (!name)
      this.fail('the first line must be a comment that names the behaviour: # one sentence');
    lines.forEach((line, index) => {
      this.line = index + 1;
      const words = line.startsWith('#') ? [] : line.split(/[ \t]+/).filter(Boolean);
      if (words.length > 0) this.readStatement(words);
    });
    for (const [id, line] of this.mentioned) {
      this.line = line;
      if (!this.pushed.has(id)) this.fail(`unknown ID '${id}': no push of this file has it`);
    }
    return { name, file: this.file, statements: this.statements };
  }

  fail(sentence) {
    throw new VectorError(this.file, this.line, sentence);
  }

  readStatement(words) {
    const rest = words.slice(1);
    if (Object.hasOwn(OPERATIONS, words[0])) {
      this.add('operation', this.readOperation(words));
      this.sawOperation = true;
    } else if (words[0] === 'config') {
      if (this.sawOperation) {
        this.fail("'config' must come before every other operation, and only once");
      }
      this.add('config', { options: this.readPairs(rest, QUEUE_OPTIONS) });
      this.sawOperation = true;
    } else if (Object.hasOwn(OUTCOMES, words[0])) {
      if (!this.sawOperation) this.fail(`'${words[0]}' has no operation before it to be caused by`);
      for (const outcome of OUTCOMES[words[0]].call(this, rest, words[0])) {
        this.add('outcome', { outcome: words[0], ...outcome });
      }
    } else if (words[0] === 'estimate') {
      const [type, pairs] = this.readType(rest);
      const { rate, ...whole } = ESTIMATES;
      this.add('query', {
        query: 'estimate',
        type,
        values: this.readPairs(pairs, type === null ? whole : { rate }),
      });
    } else if (words[0] === 'stats') {
      this.add('query', { query: 'stats', type: null, values: this.readPairs(rest, STATS) });
    } else {
      const known = [
        'config',
        ...Object.keys(OPERATIONS),
        ...Object.keys(OUTCOMES),
        'estimate',
        'stats',
      ];
      this.fail(`unknown word '${words[0]}': a line starts with one of ${known.join(', ')}`);
    }
  }

  add(kind, fields) {
    this.statements.push({ line: this.line, kind, ...fields });
  }

  readOperation([op, ...words]) {
    return { op, ...OPERATIONS[op].call(this, words, op) };
  }

  /** An operation inside another one: all but those in `forbidden`, or only those in `allowed`. */
  readInner(words, outer, allowed) {
    if (!allowed.includes(words[0])) {
      const said = words.length === 0 ? 'no operation' : `'${words[0]}'`;
      this.fail(`'${outer}' is followed by ${said}: it takes one of ${allowed.join(', ')}`);
    }
    return this.readOperation(words);
  }

  /** Checks how many words there are; `usage` is what the line should look like. */
  count(words, least, most, usage) {
    if (words.length < least) this.fail(`a word is missing: write '${usage}'`);
    if (words.length > most) this.fail(`'${words[most]}' is one word too many: write '${usage}'`);
  }

  readName(word, what) {
    if (!NAME.test(word))
      this.fail(`'${word}' is no ${what}: letters, digits, '_', '.' and '-' only`);
    return word;
  }

  readID(word) {
    this.mentioned.push([this.readName(word, 'ID'), this.line]);
    return word;
  }

  readWord(word, what, allowed) {
    if (!allowed.includes(word)) {
      this.fail(`unknown ${what} '${word}': allowed are ${allowed.join(', ')}`);
    }
    return word;
  }

  readValue(word, kind, key) {
    if (Array.isArray(kind)) return this.readWord(word, key, kind);
    return kind === 'name' ? this.readName(word, key) : this.readNumber(word, kind, key);
  }

  /** `amount` is a number of at least 0, `count` an integer of at least 0, `share` is within 0 and 1. */
  readNumber(word, kind, what) {
    const value = Number(word);
    const wrong =
      !NUMBER.test(word) ||
      Math.abs(value) > 2 ** 53 ||
      ((kind === 'integer' || kind === 'count') && !Number.isInteger(value)) ||
      (kind !== 'integer' && kind !== 'number' && value < 0) ||
      (kind === 'share' && value > 1);
    if (wrong) {
      const need = {
        number: 'a decimal number',
        amount: 'a decimal number of at least 0',
        integer: 'a whole number',
        count: 'a whole number of at least 0',
        share: 'a decimal number within 0 and 1',
      }[kind];
      this.fail(`${what} '${word}' must be ${need}`);
    }
    return value;
  }

  readTime(words, usage) {
    this.count(words, 1, 1, usage);
    return this.readNumber(words[0], 'amount', 'the time');
  }

  /** Splits an optional type off: a first word without '='. */
  readType(words) {
    if (words.length === 0 || words[0].includes('=')) return [null, words];
    return [this.readName(words[0], 'type'), words.slice(1)];
  }

  readPairs(words, keys) {
    const allowed = Object.keys(keys).join(', ');
    if (words.length === 0) this.fail(`a key=value is missing: allowed keys are ${allowed}`);
    const pairs = {};
    for (const word of words) {
      const [, key, value] = /^([^=]+)=([^=]+)$/.exec(word) ?? [];
      if (key === undefined) this.fail(`'${word}' is not of the form key=value`);
      if (!Object.hasOwn(keys, key)) this.fail(`unknown key '${key}': allowed are ${allowed}`);
      if (Object.hasOwn(pairs, key))
        this.fail(`the key '${key}' stands twice on the line: write it once`);
      pairs[key] = this.readValue(value, keys[key], key);
    }
    return pairs;
  }
}

// What follows the first word. Each is called with the reader as `this`.

const OPERATIONS = {
  at(words) {
    this.count(words, 1, Infinity, 'at T [OPERATION]');
    const time = this.readTime(words.slice(0, 1), 'at T [OPERATION]');
    // Sums of decimal fractions may be off by a rounding error; that is not running backwards.
    if (time < this.clock - 1e-6) {
      this.fail(`time runs backwards: 'at ${words[0]}', but it is ${this.clock} already`);
    }
    this.clock = Math.max(this.clock, time);
    const inner = words.slice(1);
    const allowed = Object.keys(OPERATIONS).filter((op) => op !== 'at');
    return { time, operation: inner.length === 0 ? null : this.readInner(inner, 'at T', allowed) };
  },
  advance(words, op) {
    const ms = this.readTime(words, `${op} T`);
    this.clock += ms;
    return { ms };
  },
  busy(words, op) {
    return OPERATIONS.advance.call(this, words, op);
  },
  push(words) {
    const usage = 'push TYPE ID [high|normal|low] [bytes=N] [key=K]';
    this.count(words, 2, 5, usage);
    const type = this.readName(words[0], 'type');
    const id = this.readID(words[1]);
    if (this.pushed.has(id)) this.fail(`the ID '${id}' is pushed twice: an ID names one event`);
    this.pushed.add(id);
    const rest = words.slice(2);
    const hasClass = rest.length > 0 && !rest[0].includes('=');
    const priority = hasClass ? this.readWord(rest.shift(), 'class', CLASSES) : null;
    const pairs = rest.length > 0 ? this.readPairs(rest, PUSH_OPTIONS) : {};
    return { type, id, priority, bytes: 0, key: null, ...pairs };
  },
  turn(words, op) {
    this.count(words, 0, 0, op);
    return {};
  },
  flush(words, op) {
    this.count(words, 0, 0, op);
    return {};
  },
  handle(words, op) {
    this.count(words, 1, 1, `${op} TYPE`);
    return { type: this.readName(words[0], 'type') };
  },
  unhandle(words, op) {
    return OPERATIONS.handle.call(this, words, op);
  },
  cancel(words, op) {
    this.count(words, 1, 1, `${op} ID`);
    return { id: this.readID(words[0]) };
  },
  fail(words, op) {
    return OPERATIONS.cancel.call(this, words, op);
  },
  from(words) {
    this.count(words, 1, Infinity, 'from ID OPERATION');
    const id = this.readID(words[0]);
    const { clock } = this;
    const operation = this.readInner(words.slice(1), 'from ID', FROM_OPERATIONS);
    // A handler's `busy` takes its time when the handler runs, which the reader cannot know.
    this.clock = clock;
    return { id, operation };
  },
  signal(words) {
    const [type, pairs] = this.readType(words);
    return {
      type,
      signals: this.readPairs(pairs, type === null ? SIGNALS : { rate: SIGNALS.rate }),
    };
  },
  set(words) {
    const [type, pairs] = this.readType(words);
    return { type, options: this.readPairs(pairs, type === null ? QUEUE_OPTIONS : TYPE_OPTIONS) };
  },
  close(words) {
    this.count(words, 0, 1, 'close [discard]');
    if (words.length === 1) this.readWord(words[0], 'way to close', ['discard']);
    return { discard: words.length === 1 };
  },
};

const OUTCOMES = {
  expect(words) {
    this.count(words, 3, Infinity, 'expect TIME TRIGGER ID…');
    const time = this.readTime(words.slice(0, 1), 'expect TIME TRIGGER ID…');
    const trigger = this.readWord(words[1], 'trigger', TRIGGERS);
    return [{ time, trigger, ids: words.slice(2).map((word) => this.readID(word)) }];
  },
  hold(words) {
    return [{ ms: this.readTime(words, 'hold T') }];
  },
  error(words) {
    this.count(words, 1, 1, 'error ID');
    return [{ id: this.readID(words[0]) }];
  },
  unhandled: readIDs,
  held: readIDs,
  replayed: readIDs,
  expired: readIDs,
  superseded: readIDs,
  refused(words) {
    this.count(words, 2, 2, 'refused ID CODE');
    const code = this.readWord(words[1], 'code', CODES);
    if (code !== 'invalid') return [{ id: this.readID(words[0]), code }];
    return [{ id: this.readWord(words[0], 'key', [...OPTION_KEYS]), code }];
  },
};

function readIDs(words, outcome) {
  this.count(words, 1, Infinity, `${outcome} ID…`);
  return words.map((word) => ({ id: this.readID(word) }));
}
