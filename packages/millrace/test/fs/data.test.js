/** Everything that can be written, and everything that can not. */
import { Readable } from 'node:stream';
import { same } from './same.js';

const bytes = Uint8Array.from([1, 2, 3, 250]);
const inside = new Uint8Array([9, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]).buffer;
const shared = new Uint8Array(new SharedArrayBuffer(4));
shared.set(bytes);

async function* slowly() {
  yield 'one ';
  await null;
  yield Buffer.from('two ');
  yield 'three';
}

const data = {
  text: () => 'text',
  'an empty text': () => '',
  'a Buffer': () => Buffer.from('buffer'),
  'an empty Buffer': () => Buffer.alloc(0),
  'a Uint8Array': () => bytes,
  'a Uint16Array inside of its buffer': () => new Uint16Array(inside, 2, 4),
  'a Float64Array': () => new Float64Array([Math.PI]),
  'a BigInt64Array': () => new BigInt64Array([-1n]),
  'a DataView': () => new DataView(inside, 2, 5),
  'shared memory': () => shared,
  'an array of texts': () => ['a', 'b', 'c'],
  'an array of Buffers': () => [Buffer.from('a'), bytes],
  'an empty array': () => [],
  'a set': () => new Set(['x', 'y']),
  'an async generator': () => slowly(),
  'a stream': () => Readable.from(['s', 't', 'r']),
  'a String object': () => new String('object'),
  'an iterable of numbers': () => [1, 2],
  'an iterable that throws': function* () {
    yield 'before';
    throw new RangeError('iterated too far');
  },
  'an ArrayBuffer': () => inside,
  'a number': () => 12,
  null: () => null,
  undefined: () => undefined,
  'an object': () => ({ toString: () => 'text' }),
  'a symbol': () => Symbol('data'),
  'a function': () => () => 'text',
  'a promise': () => Promise.resolve('text'),
  'more than 512 KiB of text': () => 'x'.repeat(600_000),
  'more than 512 KiB': () => Buffer.alloc(1_200_000, 'abc'),
};

for (const [title, make] of Object.entries(data)) {
  same(`writeFile of ${title}`, (fs, folder) => fs.writeFile(`${folder}/new`, make()));
  same(`appendFile of ${title}`, (fs, folder) => fs.appendFile(`${folder}/new`, make()));
  same(`appendFile of ${title} with options`, (fs, folder) =>
    fs.appendFile(`${folder}/new`, make(), { encoding: 'latin1', flush: true }),
  );
}
