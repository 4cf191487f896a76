/**
 * Remedies for a function that blocks the loop. The built-in function in which it spent most of its time tells: work that has an
 * asynchronous form needs no other thread, data that comes in pieces can be read in pieces, writes can be one; what is left has to be computed,
 * which is for a pool.
 */
import type { FunctionTime } from './profile.js';

/** Built-in functions by what to do in their place. The first match counts. */
const remedies: readonly (readonly [name: RegExp, remedy: string])[] = [
  [
    /^(append|write)\w*Sync$/,
    'batch: append with fs.appendFile(), which millrace/fs joins, or write a stream',
  ],
  [/^(readFileSync|readSync)$/, 'streaming: fs.createReadStream(), or fs.promises.readFile()'],
  [/^(exec|execFile|spawn)Sync$/, 'await the same function without Sync'],
  [
    /^(pbkdf2|scrypt|generateKey\w*|generatePrime|checkPrime|hkdf|randomFill)Sync$/,
    'await the same function without Sync, which takes a thread of libuv',
  ],
  [
    /^(gzip|gunzip|deflate|inflate|deflateRaw|inflateRaw|unzip|brotli\w+|zstd\w+|zlibBuffer|processChunk)Sync$/,
    'streaming: pipeline() with zlib, or the same function without Sync',
  ],
  [/Sync$/, 'await the same function of fs.promises'],
];

const collected = 'fewer objects at a time: streaming in place of large arrays and texts';
/** JSON, regular expressions and sorting are in no frame of their own: V8 counts them for their caller. */
const computed =
  'pool: compute on another thread (@millrace/pool), or in pieces; of large JSON: streaming, a document a line';

/** Least share of a function's time for the built-in function that tells. */
const leastShare = 0.5;

/** Returns the built-in function in which a function spent most of its time; null if that was in its own code. */
export function mainBuiltin({ selfMs, builtins }: FunctionTime): string | null {
  const [most] = Object.entries(builtins).sort(([, a], [, b]) => b - a);
  return most !== undefined && most[1] >= selfMs * leastShare ? most[0] : null;
}

/** Returns what to do about a function. */
export function remedyFor(time: FunctionTime): string {
  if (time.name === '(garbage collection)') return collected;
  const builtin = mainBuiltin(time);
  const found = builtin === null ? undefined : remedies.find(([name]) => name.test(builtin));
  return found?.[1] ?? computed;
}
