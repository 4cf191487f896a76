/**
 * All that a program can see of the calls of `node:fs` that static servers make: prints one line of JSON for each case, and at its end whether
 * they were made on the loop. In an empty working folder, with one thread in the pool, so that calls end in their order; with a limit of
 * descriptors that is soon reached. The argument is a seed for the random cases.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs, { close, createReadStream, fstat, lstat, open, read, stat } from 'node:fs';
import promises from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { inspect, promisify, types } from 'node:util';

const feature = process[Symbol.for('millrace.auto')]?.features.fs;
const names = ['stat', 'lstat', 'fstat', 'open', 'read', 'close'];
const turn = () => new Promise(setImmediate);
/** Nothing waits for longer than the machine is slow; a case that hangs says so. */
const longestMs = 300_000;

/** Calls count after the start of a program, and the addon is there a little later. */
async function begin() {
  fs.writeFileSync('warm', 'warm');
  await new Promise((resolve) => setTimeout(resolve, 150));
  // Without the addon it waits for ever.
  for (let round = 0; round < 50_000 && feature?.state === 'waiting'; round++) {
    if (feature.why !== null || (round === 2000 && process.env.MILLRACE_NATIVE === '0')) break;
    await call(stat, 'warm');
    await turn();
  }
  fs.unlinkSync('warm');
}

/** All that a callback gets. */
const call = (fn, ...args) =>
  new Promise((resolve) => fn(...args, (...answer) => resolve(answer.map(describe))));

/** Frames with which a turn begins: which they are depends on what else is in it. */
const turns = /\n +at (?:process\.)?(?:runNextTicks|process\w+) \(node:internal.*/g;
Error.stackTraceLimit = 30;

const hash = (data) => createHash('sha256').update(data).digest('hex').slice(0, 16);

function describe(value) {
  if (value instanceof Error) {
    const fields = Object.getOwnPropertyNames(value).filter((key) => key !== 'stack');
    return {
      type: value.constructor.name,
      stack: String(value.stack).replace(turns, ''),
      ...Object.fromEntries(fields.sort().map((key) => [key, inspect(value[key])])),
    };
  }
  if (value instanceof fs.Stats) {
    const { mode, size, nlink, mtime } = value;
    return { mode, size, nlink, keys: Object.keys(value), date: types.isDate(mtime) };
  }
  if (ArrayBuffer.isView(value)) return { bytes: hash(value), length: value.byteLength };
  return typeof value === 'bigint' ? String(value) : value;
}

async function outcome(work) {
  try {
    return { value: describe(await work()) };
  } catch (error) {
    return { error: describe(error) };
  }
}

/** Events of a stream, with its bytes put together. */
const streamed = (...args) =>
  new Promise((resolve) => {
    const seen = [];
    const chunks = [];
    const stream = createReadStream(...args);
    for (const name of ['open', 'ready', 'end']) stream.on(name, () => seen.push(name));
    stream.on('data', (chunk) => {
      // Its memory is its own, and no larger.
      seen.push(chunk.length, chunk.buffer?.byteLength, chunk.byteOffset);
      chunks.push(Buffer.from(chunk));
    });
    stream.on('error', (error) => seen.push(describe(error)));
    stream.on('close', () => resolve([...seen, hash(Buffer.concat(chunks)), stream.bytesRead]));
  });

const cases = {};
const opened = async (path = 'file') => (await call(open, path, 'r'))[1];

// ---- the functions

cases.functions = async () =>
  [...names.map((name) => [fs, name]), [promises, 'stat'], [promises, 'lstat']].map(
    ([of, name]) => {
      const fn = of[name];
      return {
        isAsync: types.isAsyncFunction(fn),
        keys: Reflect.ownKeys(fn).map(String),
        name: fn.name,
        length: fn.length,
        descriptor: { ...Object.getOwnPropertyDescriptor(of, name), value: 0 },
        same: { stat, lstat, fstat, open, read, close }[name] === fn,
      };
    },
  );
cases['the order of the names'] = async () => [Object.keys(fs), Object.keys(promises)];
cases['promisified functions'] = async () => {
  const fd = await promisify(open)('file');
  const { bytesRead, buffer } = await promisify(read)(fd, Buffer.alloc(4), 0, 4, 0);
  const { size } = await promisify(fstat)(fd);
  const closed = await promisify(close)(fd);
  return [bytesRead, String(buffer), size, closed ?? 'nothing', await promisify(fs.exists)('file')];
};
cases['what they return'] = async () => {
  const fd = await opened();
  const seen = [stat('file', () => {}), lstat('file', () => {}), fstat(fd, () => {})];
  seen.push(
    read(fd, Buffer.alloc(1), 0, 1, 0, () => {}),
    open('none', () => {}),
  );
  await turn();
  await call(fstat, fd);
  seen.push(await new Promise((resolve) => resolve([close(fd, () => {})])));
  return inspect(seen);
};

// ---- answers

const paths = {
  'a file': () => 'file',
  'a Buffer': () => Buffer.from('file'),
  'a URL': () => pathToFileURL('file'),
  'an absolute path': () => `${process.cwd()}/file`,
  'a path with dots': () => './folder/../file',
  'an empty file': () => 'empty',
  'a folder': () => 'folder',
  'a link': () => 'link',
  'a link to a folder': () => 'folder-link',
  'a link to nothing': () => 'dangling',
  'a loop of links': () => 'loop',
  'no file': () => 'none',
  'a file as a folder': () => 'file/below',
  'a file with a slash': () => 'file/',
  'an empty path': () => '',
  'a NUL': () => 'file\0',
  'a Buffer with a NUL': () => Buffer.from('file\0'),
  'a name that is no UTF-8': () => Buffer.from([0x66, 0xff]),
  'half a character': () => 'f\ud800',
  'a long name': () => 'x'.repeat(256),
  'a long path': () => 'x/'.repeat(2200),
  'almost a long path': () => `${'./'.repeat(2044)}file`,
  'a file of /proc': () => '/proc/self/status',
  'a device': () => '/dev/null',
  'a number': () => 5,
  nothing: () => undefined,
};
for (const [title, path] of Object.entries(paths)) {
  const stable = ([error, stats]) => [error, stats && { ...stats, nlink: 0 }];
  cases[`stat of ${title}`] = async () => stable(await call(stat, path()));
  cases[`lstat of ${title}`] = async () => stable(await call(lstat, path()));
  cases[`promises.stat of ${title}`] = () => promises.stat(path());
  cases[`promises.lstat of ${title}`] = () => promises.lstat(path());
  cases[`open of ${title}`] = async () => {
    const [error, fd] = await call(open, path(), 'r', 0o666);
    if (error) return error;
    const buffer = Buffer.alloc(100);
    const answer = await call(read, fd, buffer, 0, 6, 0);
    return [answer, await call(fstat, fd), await call(close, fd), await call(close, fd)];
  };
  cases[`a stream of ${title}`] = async () => streamed(path(), { end: 20 });
}
cases['Stats are those of statSync'] = async () => {
  const same = (a, b) => inspect({ ...a, atimeMs: 0 }) === inspect({ ...b, atimeMs: 0 });
  const fd = await opened();
  const seen = [];
  for (const path of ['file', 'empty', 'folder', 'link']) {
    seen.push(same(await promisify(stat)(path), fs.statSync(path)));
    seen.push(same(await promisify(lstat)(path), fs.lstatSync(path)));
    seen.push(same(await promises.stat(path), fs.statSync(path)));
  }
  seen.push(same(await promisify(fstat)(fd), fs.fstatSync(fd)), await call(close, fd));
  return seen;
};
const bigints = { bigint: true };
for (const options of [
  undefined,
  {},
  { bigint: false },
  bigints,
  { bigint: 0 },
  { throwIfNoEntry: false },
  Object.create(bigints),
  new Proxy({}, {}),
  [],
]) {
  cases[`stat with the options ${inspect(options, { showProxy: true })}`] = async () => [
    typeof (await promisify(stat)('file', options)).size,
    typeof (await promises.stat('file', options)).size,
    typeof (await promisify(lstat)('file', options)).size,
  ];
}
cases['options that count who reads them'] = async () => {
  let count = 0;
  const options = {
    get bigint() {
      count++;
      return false;
    },
  };
  await promisify(stat)('file', options);
  return count;
};
for (const args of [
  [stat, 'file'],
  [stat, 'file', {}],
  [stat, 'file', null, () => {}],
  [stat, 'file', 'options', () => {}],
  [stat],
  [lstat, 'file', 5],
  [fstat, 'file', () => {}],
  [fstat, -1, () => {}],
  [open, 'file'],
  [open, 'file', 'r'],
  [open, 'file', 'r', 'mode', () => {}],
  [open, 'file', 'r', -1, () => {}],
  [open, 'file', 'r', 0.5, () => {}],
  [open, 'file', 'flags', () => {}],
  [read],
  [read, 'fd', Buffer.alloc(1), 0, 1, 0, () => {}],
  [close],
  [close, 'fd', () => {}],
  [close, 5.5],
]) {
  const [fn, ...rest] = args;
  cases[`wrong arguments: ${fn.name}(${inspect(rest)})`] = async () => fn(...rest);
}
cases['wrong arguments of a read'] = async () => {
  const fd = await opened();
  const seen = [];
  for (const args of [
    [new Uint8Array(4), 0, 5, 0],
    [Buffer.alloc(4), 5, 1, 0],
    [Buffer.alloc(4), -1, 1, 0],
    [Buffer.alloc(4), 0.5, 1, 0],
    [Buffer.alloc(4), 0, 1, 0.5],
    [Buffer.alloc(4), 0, 1, 'x'],
    [Buffer.alloc(4), 0, 1, 2 ** 60],
    [Buffer.alloc(0), 0, 1, 0],
    [{}, 0, 1, 0],
  ]) {
    const again = await opened();
    seen.push(await outcome(async () => read(again, ...args, () => {})));
    seen.push(await outcome(async () => read(fd, ...args)), await call(close, again));
  }
  return [seen, await call(close, fd)];
};

// ---- reads

cases['reads of all forms'] = async () => {
  const seen = [];
  for (const rest of [
    [Buffer.alloc(7), 0, 7, 0],
    [Buffer.alloc(7), 0, 7, null],
    [Buffer.alloc(7), 0, 7, undefined],
    [Buffer.alloc(7), 0, 7, -1],
    [Buffer.alloc(7), 0, 7, 3n],
    [Buffer.alloc(7), 2, 3, 1],
    [Buffer.alloc(7), null, 3, 1],
    [Buffer.alloc(7), 0, 0, 1],
    [new Uint16Array(7), 0, 7, 1],
    [new DataView(new ArrayBuffer(7)), 0, 7, 1],
    [new Uint8Array(new SharedArrayBuffer(7)), 0, 7, 1],
    [Buffer.alloc(70), 0, 70, 0],
    [Buffer.alloc(70), 0, 70, 12],
    [Buffer.alloc(70), 0, 70, 5000],
    [Buffer.alloc(70), 0, 70, 2 ** 51],
    [Buffer.alloc(7), { length: 3, position: 2 }],
    [Buffer.alloc(7)],
    [{ buffer: Buffer.alloc(3), position: 4 }],
    [],
  ]) {
    const fd = await opened();
    seen.push(await call(read, fd, ...rest), await call(read, fd, Buffer.alloc(2), 0, 2, null));
    seen.push(await call(close, fd));
  }
  return seen;
};
cases['the position of a descriptor'] = async () => {
  const fd = await opened('page');
  const buffer = Buffer.alloc(1000);
  const seen = [];
  for (let round = 0; round < 6; round++) {
    seen.push(await call(read, fd, buffer, 0, 900, null));
    seen.push(fs.readSync(fd, buffer, 0, 10, null), await call(read, fd, buffer, 0, 5, 4));
  }
  return [seen, await call(close, fd)];
};
cases['a descriptor after its end'] = async () => {
  const fd = await opened();
  await call(read, fd, Buffer.alloc(3), 0, 3, 0);
  const seen = [await call(close, fd)];
  seen.push(await call(read, fd, Buffer.alloc(3), 0, 3, 0), await call(fstat, fd));
  seen.push(await call(close, fd), await call(close, fd));
  return seen;
};
cases['a descriptor that was closed by others'] = async () => {
  const fd = await opened();
  await call(read, fd, Buffer.alloc(3), 0, 3, 0);
  fs.closeSync(fd);
  const buffer = Buffer.alloc(3);
  const seen = [await call(read, fd, buffer, 0, 3, 0), await call(close, fd)];
  const reused = fs.openSync('page', 'r+');
  seen.push(reused === fd, await call(read, fd, buffer, 0, 3, 0), await call(fstat, fd));
  return [seen, await call(close, fd), await call(close, fd)];
};
for (const path of ['page', '/proc/sys/kernel/ostype', '/dev/null']) {
  cases[`a descriptor that was closed by others, and is now that of ${path}`] = async () => {
    const seen = [];
    for (let round = 0; round < 2; round++) {
      const fd = await opened();
      if (round === 1) await call(read, fd, Buffer.alloc(3), 0, 3, 0);
      fs.closeSync(fd);
      seen.push(await streamed(path));
    }
    return seen;
  };
}
cases['numbers and flags of descriptors'] = async () => {
  const flags = (fd) =>
    /flags:\t(.*)/.exec(fs.readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))[1];
  const lowest = fs.openSync('file');
  fs.closeSync(lowest);
  const first = await opened();
  const second = await opened('page');
  const seen = [first - lowest, second - lowest, flags(first), flags(second)];
  await call(close, first);
  const third = await opened();
  seen.push(third - lowest, await call(close, second), await call(close, third));
  return seen;
};
cases['a close right behind a read'] = async () => {
  const fd = await opened('large');
  const whole = Buffer.alloc(3_000_000);
  const reading = call(read, fd, whole, 0, whole.length, 0);
  const [answer] = await Promise.all([reading, reading.then(() => call(close, fd))]);
  return answer;
};

// ---- streams

for (const [title, args] of Object.entries({
  'of a page': ['page'],
  'of a page, by its length': ['page', { start: 0, end: 4095 }],
  'of a range': ['page', { start: 100, end: 3000 }],
  'beyond the end': ['page', { start: 5000 }],
  'up to beyond the end': ['page', { start: 4000, end: 10_000 }],
  'in small pieces': ['page', { highWaterMark: 1000 }],
  'of a large file': ['large'],
  'of a large file in large pieces': ['large', { highWaterMark: 2 ** 21 }],
  'with an encoding': ['page', { encoding: 'utf8', highWaterMark: 999 }],
  'of what is appended to': ['page', { flags: 'a+' }],
})) {
  cases[`a stream ${title}`] = () => streamed(...args);
}
cases['a stream of a descriptor'] = async () => {
  const fd = await opened('page');
  return [await streamed(null, { fd, start: 10, autoClose: true }), await call(close, fd)];
};
cases['a stream that does not close'] = async () => {
  const stream = createReadStream('page', { autoClose: false });
  const chunks = await stream.toArray();
  const { fd } = stream;
  return [chunks.length, await call(fstat, fd), await call(close, fd), await call(close, fd)];
};
cases['streams that are destroyed'] = async () => {
  const seen = [];
  for (const name of ['none', 'open', 'data', 'end']) {
    const stream = createReadStream('page');
    const closed = new Promise((resolve) => stream.on('close', resolve));
    if (name === 'none') stream.destroy();
    else stream.on(name, () => stream.destroy());
    if (name === 'end') stream.resume();
    await closed;
    seen.push([name, stream.fd, stream.destroyed, stream.closed]);
  }
  return [seen, (await opened()) - (await opened())];
};
for (const [title, change] of Object.entries({
  grows: () => fs.appendFileSync('page', 'and more'),
  shrinks: () => fs.truncateSync('page', 100),
  'is emptied': () => fs.truncateSync('page'),
  'is written again': () => fs.writeFileSync('page', Buffer.alloc(9000, 'again ')),
})) {
  for (const options of [{}, { start: 10 }, { highWaterMark: 1000 }, { end: 4200 }]) {
    for (const name of ['open', 'data', 'end']) {
      cases[`a file ${title} at ${name} of a stream with ${inspect(options)}`] = async () => {
        const stream = createReadStream('page', options);
        const seen = [];
        stream.once(name, change);
        stream.on('data', (chunk) => seen.push(chunk.length, chunk.buffer.byteLength, hash(chunk)));
        await new Promise((resolve) => stream.on('close', resolve));
        return [seen, stream.bytesRead];
      };
    }
  }
}
cases['a stream over functions of its own'] = async () => {
  const asked = [];
  const own = {
    open: (path, flags, mode, callback) => open(path, flags, mode, callback),
    read: (fd, buffer, offset, length, position, callback) => {
      asked.push(length);
      read(fd, buffer, offset, Math.min(length, 1000), position, callback);
    },
    close: (fd, callback) => close(fd, callback),
  };
  return [await streamed('page', { fs: own }), asked];
};
cases['a stream of a file that others read, too'] = async () => {
  const fd = await opened('page');
  await call(read, fd, Buffer.alloc(96), 0, 96, null);
  const stream = createReadStream(null, { fd, highWaterMark: 1000 });
  const chunks = [];
  stream.on('data', (chunk) => chunks.push(chunk.length, fs.readSync(fd, Buffer.alloc(7))));
  await new Promise((resolve) => stream.on('close', resolve));
  return chunks;
};
cases['many streams at once'] = async () =>
  (
    await Promise.all(Array.from({ length: 300 }, (_, i) => streamed(i % 30 ? 'page' : 'large')))
  ).map((seen) => hash(JSON.stringify(seen)));

// ---- files that change between two calls

const changes = {
  vanishes: () => fs.unlinkSync('file'),
  grows: () => fs.appendFileSync('file', ' and more'),
  shrinks: () => fs.truncateSync('file', 3),
  'is emptied': () => fs.truncateSync('file'),
  'is written again': () => fs.writeFileSync('file', 'other content'),
  'is another file': () => fs.renameSync('page', 'file'),
  'is a folder': () => {
    fs.unlinkSync('file');
    fs.mkdirSync('file');
  },
  'is a loop': () => {
    fs.unlinkSync('file');
    fs.symlinkSync('file', 'file');
  },
  'is a device': () => {
    fs.unlinkSync('file');
    fs.symlinkSync('/dev/null', 'file');
  },
};
for (const [title, change] of Object.entries(changes)) {
  for (const step of [1, 2, 3, 4]) {
    cases[`a file ${title} before step ${step}`] = async () => {
      const seen = [];
      const at = (number) => {
        if (step === number) change();
      };
      at(1);
      seen.push(await call(stat, 'file'));
      at(2);
      const [error, fd] = await call(open, 'file', 'r', 0o666);
      if (error) return [...seen, error];
      at(3);
      seen.push(await call(read, fd, Buffer.alloc(100), 0, 100, null));
      at(4);
      seen.push(await call(read, fd, Buffer.alloc(100), 0, 100, null), await call(fstat, fd));
      return [...seen, await call(close, fd)];
    };
  }
}
if (spawnSync('mkfifo', ['--version']).error === undefined) {
  cases['a FIFO'] = async () => {
    const seen = [await call(stat, 'file')];
    fs.unlinkSync('file');
    spawnSync('mkfifo', ['file']);
    seen.push(await call(stat, 'file'));
    // Opened only when there is a writer, and this is not waited for on the loop.
    const reading = streamed('file');
    await turn();
    const writer = spawn('sh', ['-c', 'echo written > file'], { stdio: 'inherit' });
    const written = new Promise((resolve) => writer.on('close', resolve));
    return [seen, await reading, await written];
  };
}
cases['too many descriptors'] = async () => {
  const fds = [];
  let failed;
  while (failed === undefined) {
    const [error, fd] = await call(open, 'file', 'r');
    if (error) failed = error;
    else fds.push(fd);
    if (fds.length > 5000) failed = 'no end';
  }
  // The look at a file takes one for a moment.
  const seen = [failed, await call(stat, 'file'), await outcome(() => promises.stat('file'))];
  for (const fd of fds) seen.push((await call(close, fd)).length);
  return [seen, await call(stat, 'file'), await streamed('file')];
};

// ---- when and where

cases['callbacks come after the ticks and jobs of their callers'] = async () => {
  const order = [];
  const fd = await opened();
  await new Promise((resolve) => {
    stat('file', () => order.push('stat'));
    read(fd, Buffer.alloc(1), 0, 1, 0, () => {
      order.push('read');
      close(fd, resolve);
    });
    order.push('call');
    process.nextTick(() => order.push('tick'));
    Promise.resolve()
      .then(() => order.push('job'))
      .then(() => order.push('later job'));
  });
  return order.slice(0, 4);
};
const storage = new AsyncLocalStorage();
cases['ticks and jobs between callbacks'] = async () => {
  const order = [];
  await new Promise((resolve) => {
    for (const name of ['a', 'b', 'c']) {
      storage.run(name, () =>
        stat('file', function (...answer) {
          order.push(name, storage.getStore(), typeof this, answer.length);
          process.nextTick(() => order.push(`${name} tick`));
          Promise.resolve().then(() => order.push(`${name} job`));
          if (name === 'c') setImmediate(resolve);
        }),
      );
    }
  });
  return order;
};
cases['a context'] = async () => {
  const fd = await opened();
  const within = (fn, ...args) =>
    storage.run(
      fn.name,
      () => new Promise((resolve) => fn(...args, () => resolve(storage.getStore()))),
    );
  const seen = [await within(stat, 'file'), await within(lstat, 'file'), await within(fstat, fd)];
  seen.push(await within(read, fd, Buffer.alloc(1), 0, 1, 0), await within(close, fd));
  seen.push(await within(open, 'file'), await within(open, 'none'));
  const resumed = async () => {
    await promises.stat('file');
    return storage.getStore();
  };
  return [...seen, await storage.run('promise', resumed)];
};
cases['exceptions of callbacks'] = async () => {
  const thrown = [];
  const onError = (error) => thrown.push(error.message, storage.getStore());
  process.on('uncaughtException', onError);
  await new Promise((resolve) => {
    for (const name of ['a', 'b', 'c']) {
      storage.run(`context of ${name}`, () =>
        stat('file', () => {
          if (name === 'c') setImmediate(resolve);
          throw new Error(name);
        }),
      );
    }
  });
  process.off('uncaughtException', onError);
  return thrown;
};
cases['a callback that is a bound function, or has a bind of its own'] = async () => {
  const seen = [];
  await new Promise((resolve) =>
    stat(
      'file',
      Object.assign(() => resolve(seen.push('own')), { bind: null }),
    ),
  );
  await new Promise((resolve) =>
    stat(
      'file',
      function () {
        resolve(seen.push(this.name));
      }.bind({ name: 'bound' }),
    ),
  );
  return seen;
};
cases['a callback that is a Proxy'] = async () => {
  const seen = [];
  const watch = (callback) =>
    new Proxy(
      callback,
      Object.fromEntries(
        Object.getOwnPropertyNames(Reflect).map((trap) => [
          trap,
          (...args) => {
            seen.push(trap);
            return Reflect[trap](...args);
          },
        ]),
      ),
    );
  const watched = (fn, ...args) =>
    new Promise((resolve) =>
      fn(
        ...args,
        watch((...answer) => resolve(answer)),
      ),
    );
  const [, fd] = await watched(open, 'file', 'r', 0o666);
  await watched(read, fd, Buffer.alloc(1), 0, 1, 0);
  await watched(stat, 'file');
  await watched(close, fd);
  return seen;
};
cases['10,000 calls at once'] = async () => {
  const sizes = await Promise.all(
    Array.from({ length: 10_000 }, (_, i) =>
      i % 2 ? promisify(stat)('file') : promises.stat('page'),
    ),
  );
  return hash(sizes.map(({ size }) => size).join());
};
cases['another working folder'] = async () => {
  const here = process.cwd();
  process.chdir('folder');
  try {
    return [await call(stat, 'inside'), await call(stat, 'file'), await streamed('inside')];
  } finally {
    process.chdir(here);
  }
};

// ---- random calls, one after the other, and many at a time

function randomFrom(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
async function randomCalls(random, count, writes) {
  const seen = [];
  const fds = [];
  const files = ['file', 'page', 'empty', 'link', 'none', 'folder', 'large'];
  for (let i = 0; i < count; i++) {
    const path = files[random(files.length)];
    const at = random(fds.length + 1);
    const fd = fds[at] ?? 9999;
    const buffer = Buffer.alloc(1 + random(random(2) ? 100 : 70_000));
    const position = random(2) ? null : random(random(2) ? 20 : 6000);
    switch (random(writes ? 9 : 8)) {
      case 0:
      case 1: {
        const answer = await call(open, path, 'r', 0o666);
        seen.push(answer[0]);
        if (answer[0] === null) fds.push(answer[1]);
        break;
      }
      case 2:
        seen.push(await call(stat, path));
        break;
      case 3:
        seen.push(await call(lstat, path));
        break;
      case 4:
        seen.push(await call(fstat, fd));
        break;
      case 5:
      case 6:
        seen.push(await call(read, fd, buffer, 0, buffer.length, position));
        break;
      case 7:
        seen.push(await call(close, fd));
        fds.splice(at, 1);
        break;
      default:
        fs.writeFileSync(
          ['file', 'page', 'empty'][random(3)],
          buffer.fill(i).subarray(0, random(90)),
        );
    }
    if (random(10) === 0) await turn();
  }
  for (const fd of fds) await call(close, fd);
  return hash(JSON.stringify(seen));
}
const seed = Number(process.argv[2] ?? 1);
for (let i = 0; i < 10; i++) {
  cases[`random calls, seed ${seed + i}`] = () => randomCalls(randomFrom(seed + i), 200, true);
}
cases[`random calls at a time, seed ${seed}`] = () =>
  Promise.all(
    // Errors of bad descriptors depend on what the others have open.
    Array.from({ length: 20 }, (_, i) => randomStreams(randomFrom(seed + i))),
  );
async function randomStreams(random) {
  const seen = [];
  for (let i = 0; i < 20; i++) {
    const path = ['file', 'page', 'empty', 'none', 'large', 'link'][random(6)];
    const start = random(5000);
    const options = { start, end: start + random(5000), highWaterMark: 1 + random(2000) };
    seen.push(await streamed(path, random(3) ? options : {}), await call(stat, path));
  }
  return hash(JSON.stringify(seen));
}

// ---- all of them

await begin();
// No case writes it.
fs.writeFileSync('large', Buffer.alloc(3_000_000, 'large '));
for (const [title, run] of Object.entries(cases)) {
  for (const name of fs.readdirSync('.', { encoding: 'buffer' })) {
    if (String(name) !== 'large') fs.rmSync(name, { recursive: true });
  }
  fs.writeFileSync('file', 'content of it');
  fs.writeFileSync('page', 'page '.repeat(1000).slice(0, 4096));
  fs.writeFileSync('empty', '');
  fs.mkdirSync('folder');
  fs.writeFileSync('folder/inside', 'inside');
  fs.symlinkSync('file', 'link');
  fs.symlinkSync('folder', 'folder-link');
  fs.symlinkSync('none', 'dangling');
  fs.symlinkSync('loop', 'loop');
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, longestMs, { hangs: true });
  });
  const result = await Promise.race([outcome(run), late]);
  clearTimeout(timer);
  console.log(JSON.stringify({ title, result }));
}
console.log(JSON.stringify({ state: feature?.state ?? 'none', why: feature?.why ?? null }));
