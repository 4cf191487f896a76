/** Reads while no descriptor is free, and when there are some again; prints what came of it. */
const fs = require('node:fs');

const feature = process[Symbol.for('millrace.auto')]?.features.fs;
const turn = () => new Promise(setImmediate);
const read = (path) =>
  new Promise((resolve) => {
    fs.readFile(path, 'utf8', (error, text) => {
      resolve(error === null ? { length: text.length } : { ...error, stack: error.stack });
    });
  });
const promised = (path) =>
  fs.promises.readFile(path, 'utf8').then(
    ({ length }) => ({ length }),
    (error) => ({ ...error, message: error.message }),
  );

async function main() {
  do {
    await Promise.all([read(__filename), read(__filename)]);
    await turn();
  } while (feature?.state === 'waiting' && feature.why === null);
  const taken = [];
  try {
    for (;;) taken.push(fs.openSync('/dev/null'));
  } catch {}
  const errors = await Promise.all([
    read(__filename),
    promised(__filename),
    read('none'),
    read(__filename),
  ]);
  for (const fd of taken) fs.closeSync(fd);
  const after = await Promise.all([read(__filename), promised(__filename), read('none')]);
  console.log(JSON.stringify({ errors, after }));
}

main();
