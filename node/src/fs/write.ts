import type promises from 'node:fs/promises';
import { toPath } from './arguments.js';
import { nodeWriteFile } from './node-fs.js';
import { passOn } from './order.js';

/**
 * `writeFile` of `node:fs/promises`, which does the work; but several calls for one path are carried out in the order in
 * which they were made, among each other and with those of `appendFile` and `readFile`.
 *
 * As with `node:fs/promises` a buffer is not copied: leave it alone until the promise is settled. Calls on the path that the
 * code of an async iterable makes while its own data is written do not wait for that write, which waits for them. But a stream
 * must not wait for another call on the path that it is written to: that call waits for its end.
 *
 * Rejects with MILLRACE_E_OVERLOADED when more bytes wait than `configure()` allows.
 */
export const writeFile = function writeFile(
  path: unknown,
  data: unknown,
  options?: unknown,
): Promise<void> {
  const node = nodeWriteFile as (path: unknown, data: unknown, options: unknown) => Promise<void>;
  const call = (file: unknown, kept: unknown) => node(file, data, kept);
  return passOn('writeFile', call, path, toPath(path), options, false, data);
} as typeof promises.writeFile;
