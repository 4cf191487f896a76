/** Prints what a program sees of files before, while and after a test double has begun, and why auto has left them alone in the end. */
const fs = require('node:fs');
const { promisify } = require('node:util');
const { begin, paths } = require('./doubles.cjs');

const feature = process[Symbol.for('millrace.auto')]?.features.fs;

const ways = {
  promise: async (path) => digest(await fs.promises.readFile(path)),
  callback: async (path) => digest(await promisify(fs.readFile)(path)),
  stat: async (path) => (await promisify(fs.stat)(path)).size,
  lstat: async (path) => (await promisify(fs.lstat)(path)).size,
  'promise of stat': async (path) => (await fs.promises.stat(path)).size,
  stream: async (path) => digest(Buffer.concat(await fs.createReadStream(path).toArray())),
  'a handle': async (path) => {
    const handle = await fs.promises.open(path);
    const { bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
    await handle.close();
    return bytesRead;
  },
  append: async (path) => {
    const other = `${path}.appended`;
    await fs.promises.appendFile(other, 'more');
    return (await fs.promises.readFile(other, 'utf8')).length;
  },
};

const digest = (bytes) => bytes.toString('latin1', 0, 20);

async function seen(isReal) {
  const answers = {};
  for (const path of paths) {
    for (const [way, look] of Object.entries(ways)) {
      if (way === 'append' && isReal) continue;
      answers[`${way} ${path}`] = await look(path).catch(({ code, message }) => code ?? message);
    }
  }
  return answers;
}

/** Auto has begun to act, or says why it does not. */
async function settled() {
  while (feature?.state === 'waiting' && feature.why === null) {
    await Promise.all([promisify(fs.stat)(__filename), fs.promises.readFile(__filename)]);
  }
}

(async () => {
  const { endDouble } = globalThis;
  await settled();
  const before = endDouble ? null : await seen(true);
  const end = endDouble ?? begin();
  const during = await seen(false);
  const why = feature?.why;
  end();
  const after = await seen(true);
  process.stdout.write(
    JSON.stringify({ state: feature?.state, why, seen: { before, during, after } }),
  );
})();
