/**
 * What a program can see of `node:fs/promises`, and of `readFile` of `node:fs`: prints one line of JSON for each case, and whether files were gathered. In an
 * empty working folder; with the argument `idle` auto has nothing to gather before.
 */
import { AsyncLocalStorage, createHook, executionAsyncId } from 'node:async_hooks';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs, { readFile as readFileOfName } from 'node:fs';
import promises, { appendFile, open, readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { inspect, promisify, types } from 'node:util';

const here = process.cwd();
const turn = () => new Promise(setImmediate);
const feature = process[Symbol.for('millrace.auto')]?.features.fs;
const isIdle = process.argv[2] === 'idle';
/** Nothing waits for longer than the machine is slow; a case that hangs says so. */
const longest = 300_000;

async function gather() {
  fs.writeFileSync('warm', 'warm');
  while (feature?.state === 'waiting' && feature.why === null) {
    await Promise.all([readFile('warm'), readFile('warm')]);
    await turn();
  }
  fs.unlinkSync('warm');
}

const cases = {};

/** Frames with which a turn begins: which they are depends on what else is in it. */
const turns = /\n +at (?:process\.)?(?:runNextTicks|process\w+) \(node:internal.*/g;
Error.stackTraceLimit = 30;

function describeError(error) {
  if (!(error instanceof Error)) return { thrown: inspect(error) };
  if (typeof error.stack === 'string') error.stack = error.stack.replace(turns, '');
  const { name, message, stack, cause } = error;
  const own = Object.getOwnPropertyNames(error).sort();
  const fields = Object.fromEntries(
    own.map((key) => [key, key === 'cause' ? 0 : inspect(error[key])]),
  );
  return {
    name,
    message,
    fields,
    stack,
    cause: inspect(cause).replace(turns, ''),
    type: error.constructor.name,
  };
}

/** The same, where Millrace may have written the error itself: the callers must be in the stack. */
function callersOnly(error) {
  const lines = String(error.stack).split('\n');
  error.stack = lines.filter((line, i) => i === 0 || line.includes(import.meta.url)).join('\n');
  throw error;
}

function describe(value) {
  if (typeof value === 'string') {
    return value.length < 200 ? { text: value } : { text: hash(value), length: value.length };
  }
  if (Buffer.isBuffer(value)) {
    const { byteOffset, buffer, length } = value;
    // What Node.js gives for an empty file lies in memory that nobody sees.
    return {
      bytes: hash(value),
      ...(length > 0 && { length, byteOffset, memory: buffer.byteLength }),
    };
  }
  return value;
}

const hash = (data) => createHash('sha256').update(data).digest('hex');

async function outcome(promise) {
  try {
    return { value: describe(await promise) };
  } catch (error) {
    return { error: describeError(error) };
  }
}

/** In a turn of its own. */
async function settled(start) {
  await turn();
  return await outcome(start());
}

const contents = () =>
  Object.fromEntries(
    fs
      .readdirSync('.', { encoding: 'buffer', recursive: false })
      .sort(Buffer.compare)
      .map((name) => {
        const { mode, size } = fs.lstatSync(name);
        const isFile = (mode & fs.constants.S_IFMT) === fs.constants.S_IFREG;
        return [
          name.toString('latin1'),
          { mode, size, hash: isFile ? hash(fs.readFileSync(name)) : '' },
        ];
      }),
  );

// ---- the functions

cases.functions = async () =>
  ['readFile', 'appendFile', 'writeFile'].map((name) => {
    const fn = promises[name];
    return {
      isAsync: types.isAsyncFunction(fn),
      tag: Object.prototype.toString.call(fn),
      keys: Reflect.ownKeys(fn).map(String),
      name: fn.name,
      length: fn.length,
      prototype: Object.getPrototypeOf(fn) === Object.getPrototypeOf(async () => {}),
      source: /^async (function )?\w+\(/.test(String(fn)),
      descriptor: { ...Object.getOwnPropertyDescriptor(promises, name), value: 0 },
      same: [fs.promises[name] === fn, { readFile, appendFile, writeFile }[name] === fn],
      promise: fn('none/none', '').catch(() => {}).constructor === Promise,
    };
  });
cases['the order of the names'] = async () => Object.keys(promises);
cases.new = () => settled(async () => new promises.readFile('file'));
for (const caller of [undefined, null, 5, 'text', {}]) {
  cases[`this is ${inspect(caller)}`] = async () => [
    await settled(() => readFile.call(caller, 'none')),
    await settled(() => appendFile.call(caller, 'none/file', 'x')),
    await settled(() => readFile.call(caller, 'file', 'utf8')),
  ];
}

// ---- what is read

const large = Buffer.alloc(3 * 1024 * 1024 + 1, 'größe ');
for (let at = 0; at < large.length; at += 65_537) large[at] = 0xe2;
const bodies = {
  empty: Buffer.alloc(0),
  text: Buffer.from('text äöü 😀'),
  mark: Buffer.from('\uFEFFtext'),
  odd: Buffer.from([0xff, 0xfe, 0x61]),
  broken: Buffer.from([0x61, 0xf0, 0x9f, 0x98, 0x61, 0xe2, 0x82]),
  page: Buffer.alloc(4096, 'page'),
  large,
};
const encodings = [
  ...[undefined, null, 'utf8', 'UTF-8', 'latin1', 'binary', 'ascii', 'hex', 'base64'],
  ...['base64url', 'utf16le', 'ucs2', 'buffer'],
];
for (const [name, body] of Object.entries(bodies)) {
  cases[`read ${name}`] = async () => {
    fs.writeFileSync('body', body);
    const results = [];
    for (const encoding of encodings) {
      results.push(await settled(() => readFile('body', encoding)));
      results.push(await settled(() => functions.callBack('body', encoding)));
    }
    results.push(
      await Promise.all(encodings.slice(1, 8).map((each) => outcome(readFile('body', each)))),
    );
    return results;
  };
}
cases['what the system makes up'] = async () => [
  (await readFile('/proc/self/status', 'utf8')).startsWith('Name:'),
  (await readFile('/proc/self/cmdline')).length > 0,
  await settled(() => readFile('/dev/null')),
  (await functions.callBack('/proc/self/status', 'utf8')).startsWith('Name:'),
  await settled(() => functions.callBack('/dev/null')),
];

// ---- paths

const paths = {
  relative: 'file',
  absolute: `${here}/file`,
  'not normalized': './/./file',
  buffer: Buffer.from('file'),
  bytes: new Uint8Array(Buffer.from('file')),
  URL: pathToFileURL(`${here}/file`),
  'URL of the web': new URL('http://localhost/file'),
  'URL as text': `file://${here}/file`,
  missing: 'none/file',
  'missing, in umlauts': 'größe/none',
  'missing, a buffer': Buffer.from('none/file'),
  'missing, a URL': pathToFileURL(`${here}/none/file`),
  'below a file': 'file/file',
  'a folder': '.',
  'with a slash': 'file/',
  'a loop': 'loop',
  'too long': 'x'.repeat(300),
  'much too long': 'x/'.repeat(4000),
  empty: '',
  'half a pair': 'none/\ud800',
  'not UTF-8': Buffer.from([0x66, 0xff]),
  'with a NUL': 'fi\0le',
  'a buffer with a NUL': Buffer.from('fi\0le'),
  number: 5,
  'minus one': -1,
  nothing: undefined,
  null: null,
  object: {},
  array: ['file'],
};
/** The callback's `this` and arguments; or what was thrown instead. */
const callBack = (...args) =>
  new Promise((resolve) => {
    fs.readFile(...args, function (...given) {
      resolve([this === globalThis ? 'global' : this?.constructor.name, ...given]);
    });
  });
const functions = {
  readFile: (path, options) => readFile(path, options),
  callBack: async (path, options) => {
    const [, error, data] = await callBack(path, options);
    if (error === null) return data;
    // That of a signal that was aborted before is made within the call.
    error.stack = error.stack?.replace(
      /\n +at (?:pass|Object\.readFile) \(.*millrace\/dist.*/g,
      '',
    );
    throw error;
  },
  appendFile: (path, options) => appendFile(path, 'cafe', options),
  writeFile: (path, options) => writeFile(path, 'cafe', options),
};
for (const [title, path] of Object.entries(paths)) {
  cases[`path: ${title}`] = async () => {
    fs.symlinkSync('loop', 'loop');
    const results = [];
    for (const run of Object.values(functions)) {
      // A number is a descriptor for it, and a bad one ends the process.
      if (run === functions.callBack && typeof path === 'number') continue;
      results.push(await settled(() => run(path)));
    }
    return results;
  };
}

// ---- options

class Inherited {
  get encoding() {
    return 'hex';
  }
}
const options = {
  null: () => null,
  'an empty object': () => ({}),
  frozen: () => Object.freeze({ encoding: 'utf8', flush: false }),
  'without a prototype': () => Object.assign(Object.create(null), { encoding: 'utf8' }),
  'of a class': () => new Inherited(),
  inherited: () => Object.create({ encoding: 'hex', mode: 0o600 }),
  'a getter that throws': () => ({
    get encoding() {
      throw new RangeError('not today');
    },
  }),
  'that nobody knows': () => ({ encoding: 'utf8', unknown: 1, durable: true }),
  durable: () => ({ durable: 'yes' }),
  'nearly durable': () => ({ durible: true, Durable: 1, durables: {} }),
  maxPending: () => ({ maxPending: -1, maxQueue: 0 }),
  function: () => () => {},
  number: () => 5,
  true: () => true,
  symbol: () => Symbol('options'),
  array: () => ['utf8'],
  proxy: () => new Proxy({ encoding: 'latin1' }, {}),
  'bad encoding': () => 'klingon',
  'bad encoding in options': () => ({ encoding: 'klingon' }),
  'encoding false': () => ({ encoding: false }),
  'encoding a number': () => ({ encoding: 5 }),
  'mode 0600': () => ({ mode: 0o600 }),
  'mode 0': () => ({ mode: 0 }),
  'mode as text': () => ({ mode: '640' }),
  'mode null': () => ({ mode: null }),
  'a bad mode': () => ({ mode: 'rw' }),
  'mode -1': () => ({ mode: -1 }),
  'mode NaN': () => ({ mode: Number.NaN }),
  'flush true': () => ({ flush: true }),
  'flush null': () => ({ flush: null }),
  'a bad flush': () => ({ flush: 'yes' }),
  'signal null': () => ({ signal: null }),
  'signal undefined': () => ({ signal: undefined }),
  'a bad signal': () => ({ signal: {} }),
  'a signal that is a text': () => ({ signal: 'stop' }),
  'a signal lookalike': () => ({ signal: { aborted: false } }),
  'an aborted lookalike': () => ({ signal: { aborted: true, reason: 'because' } }),
};
for (const flag of [
  ...['r', 'r+', 'rs', 'rs+', 'w', 'wx', 'w+', 'wx+', 'a', 'ax', 'a+', 'as', 'as+', 'ax+', 'q', ''],
  ...[null, 0, fs.constants.O_APPEND | fs.constants.O_CREAT | fs.constants.O_RDWR, -1, 1.5],
]) {
  options[`flag ${JSON.stringify(flag)}`] = () => ({ flag });
}
for (const [title, make] of Object.entries(options)) {
  cases[`options: ${title}`] = async () => {
    const results = [];
    for (const run of Object.values(functions)) {
      for (const path of ['file', 'new']) {
        results.push(await settled(() => run(path, make())));
        results.push(contents());
        fs.rmSync('new', { force: true });
      }
    }
    return results;
  };
}
cases['paths that change after the call'] = async () => {
  const path = Buffer.from('file');
  const url = pathToFileURL(`${here}/file`);
  const all = [readFile(path, 'utf8'), readFile(url, 'utf8'), appendFile(path, 'x')];
  path.fill('x');
  url.pathname = '/none';
  const results = await Promise.all(all.map(outcome));
  return [
    results.map(({ value, error }) => value?.text.slice(0, 7) ?? error ?? 'appended'),
    contents(),
  ];
};

// ---- data of appends

const data = {
  text: 'text',
  empty: '',
  'half a pair': 'a\ud800b',
  large: 'x'.repeat(700_000),
  buffer: Buffer.from('buffer'),
  words: Uint16Array.of(0x6161, 0x6262),
  view: new DataView(Uint8Array.of(97, 98, 99).buffer, 1),
  'an array': ['a', 'b'],
  'a generator': (function* () {
    yield 'a';
    yield Buffer.from('b');
  })(),
  'an async generator': (async function* () {
    yield 'a';
    await turn();
    yield 'b';
  })(),
  'a generator that fails': (async function* () {
    yield 'a';
    throw new RangeError('no more');
  })(),
  'an array of numbers': [1, 2],
  number: 5,
  null: null,
  nothing: undefined,
  object: {},
  'an object with toString': { toString: () => 'text' },
  'a String': new String('text'),
  memory: new ArrayBuffer(4),
};
for (const [title, body] of Object.entries(data)) {
  cases[`append ${title}`] = async () => [
    await settled(() => appendFile('file', body)),
    await settled(() => appendFile('new', body, { encoding: 'latin1', mode: 0o604 })),
    contents(),
  ];
}
cases['appended in hex'] = async () => [
  await settled(() => appendFile('new', '616', 'hex')),
  await settled(() => appendFile('new', 'zz', { encoding: 'hex' })),
  await settled(() => appendFile('new', 'äöü', { encoding: 'ascii' })),
  contents(),
];

// ---- failures of the system, and who waits for them

async function loadConfig(load) {
  return await load();
}
class Service {
  async start(load) {
    return await loadConfig(load);
  }
  static async *read(load) {
    yield await load();
  }
}
const failing = {
  read: () => readFile('none/file'),
  'read as a method': () => promises.readFile('none/file', 'utf8'),
  'read of a folder': () => fs.promises.readFile('.'),
  append: () => appendFile('none/file', 'x'),
  'append as a method': () => promises.appendFile('none/file', 'x', { flush: true }),
  'append to a folder': () => appendFile('.', 'x'),
  'a large append': () => appendFile('none/file', 'x'.repeat(700_000)),
  write: () => writeFile('none/file', 'x'),
  'call with a wrong path': () => readFile(undefined),
  'call with wrong options': () => promises.appendFile('none/file', 'x', 5),
};
for (const [title, fail] of Object.entries(failing)) {
  cases[`the stack of a failed ${title}`] = async () => {
    const results = [
      await settled(fail),
      await settled(async () => await new Service().start(fail)),
      await settled(async () => await Promise.all([turn(), loadConfig(fail)])),
      await settled(async () => await Promise.any([loadConfig(fail), fail()])),
      await settled(async () =>
        (await Promise.allSettled([fail(), fail()])).map(({ reason }) => describeError(reason)),
      ),
      await settled(async () => {
        for await (const each of Service.read(fail)) return each;
      }),
      await settled(() => fail().then(() => {})),
      await settled(() => new Promise((_resolve, reject) => fail().catch(reject))),
      // Together with calls of somebody else.
      await settled(async () => {
        const others = [
          readFile('file'),
          readFile('none').catch(() => {}),
          appendFile('file', 'x'),
        ];
        try {
          return await new Service().start(fail);
        } finally {
          await Promise.all(others);
        }
      }),
    ];
    for (const limit of [0, 1, 3]) {
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = limit;
      try {
        results.push(await settled(async () => await new Service().start(fail)));
      } finally {
        Error.stackTraceLimit = stackTraceLimit;
      }
    }
    if (title.startsWith('call')) return results;
    const { prepareStackTrace } = Error;
    Error.prepareStackTrace = (_error, sites) =>
      sites.map((site) => [site.getFunctionName(), site.getFileName(), site.isAsync()].join());
    try {
      results.push(await settled(async () => await new Service().start(fail)));
    } finally {
      Error.prepareStackTrace = prepareStackTrace;
    }
    return results;
  };
}
cases['no room'] = async () => [
  await settled(async () => await appendFile('/dev/full', 'x').catch(callersOnly)),
  await settled(async () => {
    const all = ['one', 'two', 'three'].map((each) => appendFile('/dev/full', each));
    return (await Promise.allSettled(all)).map(({ reason }) => reason.message);
  }),
  await settled(async () => await appendFile('/dev/null', 'x', { flush: true }).catch(callersOnly)),
];
cases['each error is of its own'] = async () => {
  const all = Array.from({ length: 4 }, () => [readFile('none'), appendFile('none/x', 'x')]).flat();
  const errors = (await Promise.allSettled(all)).map(({ reason }) => reason);
  return new Set(errors).size;
};
cases['an error that is seen late'] = async () => {
  const seen = [];
  const onUnhandled = (error) => seen.push(error.code);
  process.on('unhandledRejection', onUnhandled);
  const microtasks = readFile('none');
  for (let i = 0; i < 100; i++) await null;
  await microtasks.catch(() => seen.push('microtasks'));
  for (const start of [() => readFile('none'), () => appendFile('none/x', 'x')]) {
    const ticks = start();
    await new Promise((resolve) => {
      const wait = (left) => (left === 0 ? resolve() : process.nextTick(wait, left - 1));
      wait(100);
    });
    await ticks.catch(() => seen.push('ticks'));
  }
  await turn();
  process.off('unhandledRejection', onUnhandled);
  return seen;
};

// ---- signals

const reasons = { none: undefined, text: 'a text', error: new RangeError('an error'), null: null };
for (const [title, reason] of Object.entries(reasons)) {
  const later = { at: (abort) => abort(), tick: process.nextTick, microtask: queueMicrotask };
  cases[`aborted before, reason ${title}`] = async () => {
    const results = [];
    for (const run of Object.values(functions)) {
      for (const path of ['file', 'none/file']) {
        results.push(await settled(() => run(path, { signal: AbortSignal.abort(reason) })));
      }
    }
    return results;
  };
  for (const [when, schedule] of Object.entries(later)) {
    cases[`aborted ${when}, reason ${title}`] = async () => {
      const results = [];
      for (const run of [functions.readFile, functions.callBack, functions.appendFile]) {
        results.push(
          await settled(() => {
            const controller = new AbortController();
            const running = run('file', { signal: controller.signal });
            schedule(() => controller.abort(reason));
            return running.catch(callersOnly);
          }),
        );
      }
      return [results, contents()];
    };
  }
}

// ---- handles

cases.handles = async () => {
  const handle = await open('file', 'a+');
  const results = [
    await settled(() => readFile(handle, 'utf8')),
    await settled(() => appendFile(handle, 'x')),
    await settled(() => readFile(handle, { encoding: 'utf8', flag: 'nonsense' })),
    await settled(() => handle.readFile('utf8')),
  ];
  await handle.close();
  results.push(await settled(() => readFile(handle)), await settled(() => appendFile(handle, 'x')));
  return [results, contents()];
};

// ---- callbacks

cases['the function with a callback'] = async () => {
  const { readFile: fn } = fs;
  return {
    type: types.isAsyncFunction(fn),
    keys: Reflect.ownKeys(fn).map(String),
    name: fn.name,
    length: fn.length,
    prototype: Reflect.getOwnPropertyDescriptor(fn, 'prototype'),
    source: /^function readFile\(/.test(String(fn)),
    descriptor: { ...Object.getOwnPropertyDescriptor(fs, 'readFile'), value: 0 },
    same: readFileOfName === fn,
    returns: fn('file', () => {}),
    promisified: describe(await promisify(fn)('file', 'utf8')),
    failed: await settled(() => promisify(fn)('none')),
  };
};
const forms = {
  path: ['file'],
  'path, null': ['file', null],
  'path, undefined': ['file', undefined],
  'path, encoding': ['file', 'utf8'],
  'path, options': ['file', { encoding: 'latin1', flag: 'r' }],
  'path, function': ['file', () => {}],
  'a missing file': ['none'],
  'a missing file, encoding': ['none', 'utf8'],
  'a folder': ['.'],
  'an empty path': [''],
};
for (const [title, args] of Object.entries(forms)) {
  cases[`called with ${title}`] = async () => {
    await turn();
    const [caller, error, ...data] = await callBack(...args);
    return [caller, error === null ? null : describeError(error), data.map(describe)];
  };
}
cases['called without a callback'] = async () =>
  Promise.all(
    [[], ['file'], ['file', 'utf8'], ['file', null, null], ['file', 'utf8', {}], ['none', 5]].map(
      (args) => settled(async () => fs.readFile(...args)),
    ),
  );
cases['called with a callback where options belong, too'] = async () => {
  await turn();
  return new Promise((resolve) => {
    fs.readFile(
      'file',
      (_error, data) => resolve(['options', describe(data)]),
      (_error, data) => resolve(['callback', describe(data)]),
    );
  });
};
for (const limit of [0, 1, 3]) {
  cases[`thrown at a caller, ${limit} frames`] = async () => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = limit;
    try {
      return await Promise.all([
        settled(async () => fs.readFile('file', 'klingon', () => {})),
        settled(async () => fs.readFile(undefined, () => {})),
        settled(async () => fs.readFile('file')),
      ]);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  };
}
cases['a descriptor'] = async () => {
  const fd = fs.openSync('file');
  const read = () => callBack(fd, 'utf8').then(([, , text]) => text);
  const seen = [await read(), await read()];
  fs.closeSync(fd);
  return [seen, await settled(() => functions.callBack(fd))];
};
cases['ticks and promise jobs between two callbacks'] = async () => {
  await turn();
  const seen = [];
  const read = (name) =>
    new Promise((resolve) => {
      fs.readFile('file', () => {
        seen.push(name);
        process.nextTick(() => seen.push('tick'));
        queueMicrotask(() => seen.push('job'));
        setImmediate(resolve);
      });
    });
  await Promise.all(['one', 'two', 'three'].map(read));
  // Which of them is the first is open.
  return seen.map((each) => (/t[io]/.test(each) || each === 'job' ? each : 'callback')).join();
};
cases['never before the call has returned, its ticks and its promise jobs'] = async () => {
  await turn();
  const seen = [];
  await new Promise((resolve) => {
    fs.readFile('file', () => {
      seen.push('callback');
      resolve();
    });
    const ticks = (left) => left > 0 && process.nextTick(ticks, left - 1);
    process.nextTick(() => seen.push('tick'));
    ticks(50);
    let jobs = Promise.resolve();
    for (let i = 0; i < 50; i++) jobs = jobs.then(() => {});
    jobs.then(() => seen.push('job'));
    seen.push('returned');
  });
  return seen;
};
cases['an immediate before a timer, as in each callback of a file'] = async () => {
  const seen = [];
  for (let i = 0; i < 20; i++) {
    await turn();
    seen.push(
      await new Promise((resolve) => {
        fs.readFile('file', () => {
          setTimeout(resolve, 0, 'timer');
          setImmediate(resolve, 'immediate');
          const end = performance.now() + 2;
          while (performance.now() < end);
        });
      }),
    );
  }
  return seen;
};
cases['exceptions in callbacks'] = async () => {
  await turn();
  const storage = new AsyncLocalStorage();
  const seen = [];
  let left = 4;
  return new Promise((resolve) => {
    const end = () => {
      if (--left > 0) return;
      process.off('uncaughtException', onError);
      resolve(seen.sort());
    };
    const onError = (error) => {
      seen.push(`${error.message} in ${storage.getStore()}`);
      end();
    };
    process.on('uncaughtException', onError);
    for (const name of ['file', 'none']) {
      storage.run(`the context of ${name}`, () => {
        fs.readFile(name, () => {
          throw new Error(`of ${name}`);
        });
        fs.readFile(name, (error, data) => {
          seen.push([error?.code, data?.length, storage.getStore()].join());
          end();
        });
      });
    }
  });
};
cases['a context in a callback'] = async () => {
  const storage = new AsyncLocalStorage();
  return Promise.all(
    ['file', 'none', 'file'].map((path, i) =>
      storage.run(i, () =>
        callBack(path).then(async () => {
          const seen = [storage.getStore()];
          fs.readFile(path, () => seen.push(storage.getStore()));
          storage.run('inner', () => fs.readFile(path, () => seen.push(storage.getStore())));
          while (seen.length < 3) await turn();
          return seen.sort();
        }),
      ),
    ),
  );
};
cases['async hooks and a callback'] = async () => {
  const types = new Set();
  const hook = createHook({ init: (_id, type) => types.add(type) }).enable();
  const ids = new Set([executionAsyncId()]);
  const read = () =>
    new Promise((resolve) => fs.readFile('file', () => resolve(executionAsyncId())));
  for (const id of await Promise.all([read(), read(), read()])) ids.add(id);
  hook.disable();
  return [types.has('FSREQCALLBACK'), ids.size, !ids.has(0)];
};
cases['callbacks that read on'] = async () => {
  const seen = [];
  const chain = (left, resolve) => {
    fs.readFile('file', 'utf8', (_error, text) => {
      seen.push(text);
      if (left > 0) chain(left - 1, resolve);
      else resolve();
    });
  };
  await Promise.all(Array.from({ length: 5 }, () => new Promise((resolve) => chain(40, resolve))));
  return [seen.length, new Set(seen).size];
};
cases['callbacks, another working folder after the call'] = async () => {
  fs.mkdirSync('sub');
  const all = [callBack('none/a'), callBack('file', 'utf8'), callBack('.')];
  fs.copyFileSync('file', 'sub/file');
  process.chdir('sub');
  const results = await Promise.all(all);
  process.chdir(here);
  return results.map(([, error, data]) => (error ? [error.message, error.path] : data));
};
cases['a file that changes between the call and its callback'] = async () => {
  const results = [];
  const changes = {
    grows: () => fs.appendFileSync('file', ' and more'),
    'is gone': () => fs.rmSync('file'),
    'is a folder': () => {
      fs.rmSync('file');
      fs.mkdirSync('file');
    },
    'is empty': () => fs.truncateSync('file'),
    'is another': () => {
      fs.writeFileSync('other', 'content');
      fs.renameSync('other', 'file');
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    for (const run of [functions.readFile, functions.callBack]) {
      fs.rmSync('file', { recursive: true, force: true });
      fs.writeFileSync('file', 'content');
      // Before it has begun: Node.js has a thread at it by then, so either outcome is right.
      const reading = outcome(run('file', 'utf8'));
      change();
      const { value, error } = await reading;
      const valid = [
        'content',
        'content and more',
        '',
        "ENOENT: no such file or directory, open 'file'",
        'EISDIR: illegal operation on a directory, read',
      ];
      const got = error?.message ?? value.text;
      results.push([name, valid.includes(got) ? 'valid' : got]);
    }
  }
  return results;
};
cases['no descriptor is left'] = async () => {
  const count = () => fs.readdirSync('/proc/self/fd').length;
  await turn();
  const before = count();
  for (let i = 0; i < 40; i++) {
    await Promise.all([callBack('file'), callBack('none'), callBack('.'), readFile('file')]);
  }
  return count() - before;
};

// ---- who waits for whom

cases['a read in the data of a write'] = async () => {
  async function* body() {
    yield 'a';
    yield `[${await readFile('new', 'utf8')}]`;
    await appendFile('other', 'mark');
    yield await readFile('other', 'utf8');
  }
  await writeFile('new', body());
  return readFile('new', 'utf8');
};
cases['an append in the data of a write and of an append'] = async () => {
  async function* body() {
    yield 'a';
    await appendFile('new', 'mark');
    await writeFile('new', 'b', { flag: 'a' });
    yield 'c';
  }
  await writeFile('new', body(), { flag: 'a' });
  await appendFile('new', body());
  return readFile('new', 'utf8');
};
cases['a write that does not end'] = async () => {
  let end;
  const ending = new Promise((resolve) => {
    end = resolve;
  });
  let isBegun;
  const begun = new Promise((resolve) => {
    isBegun = resolve;
  });
  async function* body() {
    yield 'begin ';
    isBegun();
    await ending;
    yield 'end';
  }
  const slow = writeFile('new', body(), { flag: 'a' });
  await begun;
  const results = [await readFile('new', 'utf8'), await appendFile('new', 'more ')];
  results.push(
    await Promise.all([readFile('new', 'utf8'), readFile('new', { flag: 'r+' }).then(String)]),
  );
  await writeFile('new', 'written ', { flag: 'a' });
  end();
  await slow;
  return [results, await readFile('new', 'utf8')];
};
cases["a child's output, while it runs"] = async () => {
  const child = spawn(
    process.execPath,
    [
      '--eval',
      'process.stdout.write("begun\\n"); process.stdin.on("end", () => process.stdout.write("end\\n")).resume()',
    ],
    { env: {}, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const writing = writeFile('log', child.stdout);
  let text = '';
  while (text === '') text = await readFile('log', 'utf8').catch(() => '');
  child.stdin.end();
  await writing;
  return [text, await readFile('log', 'utf8')];
};
cases['calls one after the other'] = async () => {
  const seen = [];
  for (let round = 0; round < 20; round++) {
    await writeFile('new', `${round} `);
    await appendFile('new', 'one ');
    seen.push(await readFile('new', 'utf8'));
    await Promise.all([appendFile('new', 'same '), appendFile('new', 'same ')]);
    await appendFile('new', ['two'], { flag: 'a' });
    fs.appendFileSync('new', ' three');
    seen.push(await readFile('new', 'latin1'));
  }
  return seen;
};
cases['many appends, in any order'] = async () => {
  const lines = Array.from({ length: 2000 }, (_, i) => `${i}\n`);
  await Promise.all(
    lines.map((line, i) =>
      appendFile('new', i % 7 === 0 ? Buffer.from(line) : line, { flush: i % 500 === 0 }),
    ),
  );
  const seen = (await readFile('new', 'utf8')).split('\n');
  fs.unlinkSync('new');
  return hash(seen.sort().join());
};
cases['a log that is renamed'] = async () => {
  for (let round = 0; round < 5; round++) {
    await Promise.all([appendFile('new', `${round}`), appendFile('new', `${round}`)]);
    fs.renameSync('new', `new.${round}`);
  }
  return contents();
};
cases['another working folder after the call'] = async () => {
  fs.mkdirSync('sub');
  const all = [readFile('none/a'), readFile('file', 'utf8'), appendFile('none/b', 'x')];
  // Node.js may open them on either side of this, so the names are there in both.
  fs.copyFileSync('file', 'sub/file');
  process.chdir('sub');
  const results = await Promise.all(all.map(outcome));
  process.chdir(here);
  return results.map(({ error, value }) => (error ? [error.message, error.fields] : value));
};
cases['a context'] = async () => {
  const storage = new AsyncLocalStorage();
  return Promise.all(
    ['a', 'b', 'c'].map((name) =>
      storage.run(`in ${name}`, async () => {
        const seen = [storage.getStore()];
        await readFile('file');
        seen.push(storage.getStore());
        await readFile('none').catch(() => seen.push(storage.getStore()));
        await appendFile(
          name,
          (function* () {
            yield storage.getStore();
          })(),
        );
        seen.push(storage.getStore());
        await appendFile('none/none', 'x').catch(() => seen.push(storage.getStore()));
        return seen;
      }),
    ),
  );
};

// ---- FIFOs: there is a difference only between ending and not ending

const hasFifos = spawnSync('mkfifo', ['--version']).error === undefined;
if (hasFifos) {
  const fifo = () => {
    spawnSync('mkfifo', ['fifo']);
    return 'fifo';
  };
  const reader = () => {
    const child = spawn('cat', ['fifo'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    return new Promise((resolve) => child.on('close', () => resolve(text)));
  };
  cases['appends to a FIFO before it has a reader'] = async () => {
    const path = fifo();
    const first = appendFile(path, 'a');
    for (let i = 0; i < 20; i++) await turn();
    const second = appendFile(path, 'a');
    for (let i = 0; i < 20; i++) await turn();
    const text = reader();
    await Promise.all([first, second]);
    return await text;
  };
  cases['more than a FIFO holds'] = async () => {
    const path = fifo();
    const all = Array.from({ length: 3 }, () => appendFile(path, 'x'.repeat(400_000)));
    const text = reader();
    await Promise.all(all);
    return (await text).length;
  };
  cases['a FIFO, with a callback'] = async () => {
    const path = fifo();
    const reading = callBack(path, 'utf8');
    for (let i = 0; i < 20; i++) await turn();
    await appendFile(path, 'sent');
    return reading;
  };
  cases['a FIFO and the file beside it'] = async () => {
    const path = fifo();
    const reading = readFile(path, 'utf8');
    const beside = await Promise.all([
      readFile('file', 'utf8'),
      appendFile('new', 'x'),
      readFile('file'),
    ]);
    await appendFile(path, 'sent');
    return [beside.length, await reading];
  };
}

// ---- all of them

if (!isIdle) await gather();
for (const [title, run] of Object.entries(cases)) {
  for (const name of fs.readdirSync('.', { encoding: 'buffer' }))
    fs.rmSync(name, { recursive: true });
  fs.writeFileSync('file', 'content');
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, longest, { hangs: true });
  });
  const result = await Promise.race([outcome(run()), late]);
  clearTimeout(timer);
  console.log(JSON.stringify({ title, result, contents: contents() }));
}
console.log(JSON.stringify({ state: feature?.state ?? 'none', why: feature?.why ?? null }));
