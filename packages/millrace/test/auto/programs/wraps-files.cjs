/** Preloaded before auto: somebody who wants to see each call of readFile. */
const { promises } = require('node:fs');

const { readFile } = promises;
promises.readFile = function watched(...args) {
  watched.calls++;
  return readFile.apply(this, args);
};
promises.readFile.calls = 0;
