/**
 * Test doubles in the binding of Node.js, as mock-fs makes them: the file that is there is another one. The addon hears of the mount first
 * when nothing can be read. Prints what is seen, why auto leaves files alone meanwhile, and whether it answers again in the end.
 */
const { createHook } = require('node:async_hooks');
const fs = require('node:fs');
const { promisify } = require('node:util');
const { fs: feature } = process[Symbol.for('millrace.auto')].features;

process.noDeprecation = true;
const binding = process.binding('fs');
const { fstat, stat, open, openFileHandle } = binding;
const restore = () => Object.assign(binding, { fstat, stat, open, openFileHandle });
const unknown = () => {
  throw new Error('EBADF: the double knows no such descriptor');
};
const executable = fs.openSync(process.execPath);
const stats = () => new Promise((resolve) => fs.stat(__filename, (_, answer) => resolve(answer)));

async function seen(double) {
  binding.fstat = double;
  binding.stat = (_path, ...rest) => stat('/dev/null', ...rest);
  binding.open = (_path, ...rest) => open('/dev/null', ...rest);
  const { why } = feature;
  const isFile = (await stats()).isFile();
  const chunks = await fs.createReadStream(__filename).toArray();
  binding.fstat = fstat;
  binding.openFileHandle = (_path, ...rest) => openFileHandle('/dev/null', ...rest);
  const { length: promised } = await fs.promises.readFile(__filename);
  const { length: calledBack } = await promisify(fs.readFile)(__filename);
  restore();
  return { why, isFile, read: chunks.length, promised, calledBack };
}

/** Whether a call is made without the threadpool. */
async function isOnLoop() {
  let requests = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'FSREQCALLBACK') requests++;
    },
  }).enable();
  await stats();
  hook.disable();
  return requests === 0;
}

(async () => {
  while (feature.state === 'waiting') await new Promise((resolve) => fs.stat('/', resolve));
  binding.open = unknown;
  await stats();
  restore();
  console.log(
    JSON.stringify({
      unknown: await seen(unknown),
      other: await seen((_fd, ...rest) => fstat(executable, ...rest)),
      why: feature.why,
      isOnLoop: await isOnLoop(),
    }),
  );
})();
