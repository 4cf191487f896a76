import { bytes, count } from '/write.js';

/** Text for an upload, made here: lines of words. */
const MADE_BYTES = 64 * 1024 * 1024;

/** Describes a result in a few words. */
const digits = ({ digits, first, last, sha256 }) =>
  digits <= 20
    ? `${first}`
    : `${count(digits)} digits, ${first.slice(0, 8)}…${last.slice(-8)}, SHA‑256 ${sha256.slice(0, 8)}…`;
const counts = ({ bytes: size, lines, words, crc32 }) =>
  `${bytes(size)}, ${count(lines)} lines, ${count(words)} words, CRC‑32 ${crc32}`;
const records = ({ records, bytes: size, crc32 }) =>
  `${count(records)} records, ${bytes(size)}, CRC‑32 ${crc32}`;
const photos = ({ photos: list }) => `${count(list)} photos`;

/**
 * Tasks of the buttons. `title` names the work; tasks of the same `title` and `about` do the same, wherever they do it.
 *
 * @type {Record<string, { title: string, where: string, ask: (settings) => { path, query?, body? }, about: (settings) => string, tell: (result) => string }>}
 */
export const TASKS = {
  'fibonacci-single': {
    title: 'Fibonacci',
    where: 'main thread',
    ask: ({ n, algorithm }) => ({ path: '/fibonacci-single', query: { n, algorithm } }),
    about: numbers,
    tell: digits,
  },
  fibonacci: {
    title: 'Fibonacci',
    where: 'pool',
    ask: ({ n, algorithm }) => ({ path: '/fibonacci', query: { n, algorithm } }),
    about: numbers,
    tell: digits,
  },
  'rsa-whole': {
    title: 'RSA Fibonacci',
    where: 'main thread, whole modulus',
    ask: ({ n, algorithm }) => ({ path: '/rsa-fibonacci', query: { n, algorithm } }),
    about: numbers,
    tell: digits,
  },
  'rsa-crt': {
    title: 'RSA Fibonacci',
    where: 'main thread, two factors',
    ask: ({ n, algorithm }) => ({ path: '/rsa-fibonacci', query: { n, algorithm, method: 'crt' } }),
    about: numbers,
    tell: digits,
  },
  'rsa-multithreaded': {
    title: 'RSA Fibonacci',
    where: 'pool, two factors',
    ask: ({ n, algorithm }) => ({ path: '/rsa-fibonacci-multithreaded', query: { n, algorithm } }),
    about: numbers,
    tell: digits,
  },
  'records-single': {
    title: 'Records',
    where: 'main thread',
    ask: ({ records }) => ({ path: '/records-single', query: { count: records } }),
    about: ({ records }) => count(records),
    tell: records,
  },
  records: {
    title: 'Records',
    where: 'pool',
    ask: ({ records }) => ({ path: '/records', query: { count: records } }),
    about: ({ records }) => count(records),
    tell: records,
  },
  upload: {
    title: 'Uploaded file',
    where: 'pool',
    ask: ({ upload }) => ({ path: '/process-large-file', body: upload ?? makeText() }),
    about: ({ upload }) => upload?.name ?? 'text made here',
    tell: counts,
  },
  file: {
    title: 'File on the disk',
    where: 'pool',
    ask: ({ file }) => ({ path: '/process-file', query: { name: file } }),
    about: ({ file }) => file,
    tell: counts,
  },
  photos: {
    title: 'Photos',
    where: 'another service',
    ask: () => ({ path: '/fetch-photos' }),
    about: () => '',
    tell: photos,
  },
};

function numbers({ n, algorithm }) {
  return `n = ${count(n)}, ${algorithm === 'paper' ? 'additions' : 'doubling'}`;
}

/** Parts that are the same take their memory once. */
function makeText() {
  const lines = Array.from(
    { length: 4096 },
    (_, at) => `line ${at} of a text that has some words\n`,
  );
  const part = new Blob([lines.join('')]);
  return new Blob(new Array(Math.ceil(MADE_BYTES / part.size)).fill(part));
}
