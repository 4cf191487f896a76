// readFile(), writeFile() and appendFile() as their users' compilers see them.
import type { FileHandle } from 'node:fs/promises';
import {
  type AppendOptions,
  appendFile,
  configure,
  type FileOptions,
  type FileStats,
  readFile,
  stats,
  writeFile,
} from 'millrace/fs';

declare const handle: FileHandle;
declare const texts: AsyncIterable<string>;
const { signal } = new AbortController();

const bytes: Promise<Buffer> = readFile('file');
const text: Promise<string> = readFile(new URL('file:///file'), 'utf8');
const also: Promise<string> = readFile(Buffer.from('file'), { encoding: 'hex', flag: 'r', signal });
const held: Promise<Buffer> = readFile(handle);
// @ts-expect-error: no such encoding
readFile('file', 'klingon');
// @ts-expect-error: a path is needed
readFile(5);

const written: Promise<void> = writeFile('file', texts, { mode: 0o600, flush: true });
writeFile(handle, new Uint8Array(1));
// @ts-expect-error: not for writeFile()
writeFile('file', 'text', { durable: true });

const options: AppendOptions = {
  durable: true,
  mode: 0o600,
  flag: 'a',
  encoding: 'latin1',
  signal,
};
const appended: Promise<void> = appendFile('file', 'text', options);
appendFile(handle, new DataView(new ArrayBuffer(1)), 'utf8');
appendFile('file', ['a', 'b'], null);
// @ts-expect-error: true or false
appendFile('file', 'text', { durable: 'yes' });
// @ts-expect-error: no such data
appendFile('file', 5);

const counters: FileStats = stats();
const gathered: number =
  counters.reads / counters.readBatches + counters.appends / counters.commits;

void [bytes, text, also, held, written, appended, gathered];

const bounds: Partial<FileOptions> = { maxPending: 1, maxQueue: 2, maxQueueBytes: 3 };
configure(bounds);
// @ts-expect-error: no such option
configure({ maxPendingBytes: 1 });
