import type promises from 'node:fs/promises';
import { toPath } from './arguments.js';
import { nodeWriteFile } from './node-fs.js';
import { passOn } from './order.js';

/**
 * `writeFile` of `node:fs/promises`, which does the work; but several calls for one path are carried out in the order in
 * which they were made, among each other and with those of `appendFile` and `readFile`.
 *
 * As with `node:fs/promises` a buffer is not copied: leave it alone until the promise is settled. Data that comes from an
 * iterable or a stream must not wait for another call on the path that it is written to: that call waits for its end.
 */
export const writeFile = function writeFile(
  path: unknown,
  data: unknown,
  options?: unknown,
): Promise<void> {
  const node = nodeWriteFile as (path: unknown, data: unknown, options: unknown) => Promise<void>;
  return passOn((file, kept) => node(file, data, kept), path, toPath(path), options, false);
} as typeof promises.writeFile;
