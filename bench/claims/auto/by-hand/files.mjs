/**
 * Preload written by hand: calls on files as synchronous ones, called back by setImmediate. It is right where files are small, on a local disk and
 * in memory, and holds the loop as long as they are not.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

for (const name of ['stat', 'lstat', 'fstat', 'open', 'read', 'close', 'readFile']) {
  const call = fs[`${name}Sync`];
  fs[name] = (...args) => {
    const callback = args.pop();
    try {
      setImmediate(callback, null, call(...args), args[1]);
    } catch (error) {
      setImmediate(callback, error);
    }
  };
}
fs.promises.readFile = async (...args) => fs.readFileSync(...args);
syncBuiltinESMExports();
console.log('by hand');
