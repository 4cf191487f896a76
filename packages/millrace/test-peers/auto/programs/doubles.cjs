/**
 * The file system of a test double, named by DOUBLE: `begin()` puts it in the place of the real one, and returns a function that ends that.
 * One of the paths is in both, one only on the disk, one only in the double.
 */
const fs = require('node:fs');
const { join } = require('node:path');

const both = __filename;
const onDisk = join(__dirname, 'sees-doubles.cjs');
const inDouble = join(__dirname, 'none');
const content = { [both]: 'of the double', [inDouble]: 'of the double alone' };

const doubles = {
  /** Replaces functions beneath those of `node:fs`, as soon as it is loaded. */
  'mock-fs'() {
    const mock = require('mock-fs');
    mock(content);
    return () => mock.restore();
  },
  /** In the place of functions of `node:fs`. */
  memfs() {
    const { vol } = require('memfs');
    vol.fromJSON(content);
    const names = ['readFile', 'stat', 'lstat', 'createReadStream'];
    const replaced = [
      ...names.map((name) => [fs, name, vol]),
      ...['readFile', 'appendFile', 'stat', 'lstat'].map((name) => [
        fs.promises,
        name,
        vol.promises,
      ]),
    ];
    const restores = replaced.map(([target, name, double]) => {
      const { [name]: original } = target;
      target[name] = double[name].bind(double);
      return () => {
        target[name] = original;
      };
    });
    return () => {
      for (const restore of restores) restore();
    };
  },
};

module.exports = { begin: doubles[process.env.DOUBLE], paths: [both, onDisk, inDouble] };
