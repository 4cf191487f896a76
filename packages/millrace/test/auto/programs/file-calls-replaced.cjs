/**
 * Test doubles in the binding of Node.js, as mock-fs makes them: the file that is there is another one. The addon hears of the mount first
 * when nothing can be read. Prints what is seen, and whether a call is made on the loop after all.
 */
const fs = require('node:fs');
const { fs: feature } = process[Symbol.for('millrace.auto')].features;

process.noDeprecation = true;
const binding = process.binding('fs');
const { fstat, stat, open } = binding;
const restore = () => Object.assign(binding, { fstat, stat, open });
const unknown = () => {
  throw new Error('EBADF: the double knows no such descriptor');
};
const executable = fs.openSync(process.execPath);
const stats = () => new Promise((resolve) => fs.stat(__filename, (_, answer) => resolve(answer)));

async function seen(double) {
  binding.fstat = double;
  binding.stat = (_path, ...rest) => stat('/dev/null', ...rest);
  binding.open = (_path, ...rest) => open('/dev/null', ...rest);
  const isFile = (await stats()).isFile();
  const chunks = await fs.createReadStream(__filename).toArray();
  restore();
  return { isFile, read: chunks.length };
}

(async () => {
  while (feature.state === 'waiting') await new Promise((resolve) => fs.stat('/', resolve));
  binding.open = unknown;
  await stats();
  restore();
  let isOnLoop = false;
  binding.fstat = (...args) => {
    isOnLoop = true;
    return fstat(...args);
  };
  await stats();
  restore();
  console.log(
    JSON.stringify({
      unknown: await seen(unknown),
      other: await seen((_fd, ...rest) => fstat(executable, ...rest)),
      isOnLoop,
    }),
  );
})();
