/** Every encoding, in and out, of text and of bytes that are none. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { same } from './same.js';

const names =
  'utf8 utf-8 UTF8 Utf-8 utf16le utf-16le ucs2 ucs-2 UCS2 latin1 binary ascii hex base64 base64url';
const encodings = [...names.split(' '), 'buffer', 'HEX', '', undefined, null];

const files = {
  text: Buffer.from('plain text\n'),
  'text in several scripts': Buffer.from('Grüße, 你好, привет, 😀\r\n'),
  'text with a byte order mark': Buffer.from('\ufeffmarked'),
  'an empty file': Buffer.alloc(0),
  'one byte': Buffer.from([0xc3]),
  'all bytes': Buffer.from(Array.from({ length: 256 }, (_, index) => index)),
  'UTF-8 cut in mid-character': Buffer.from('abc😀').subarray(0, 5),
  'random bytes': randomBytes(70_001),
};

for (const [title, bytes] of Object.entries(files)) {
  const arrange = (folder) => writeFileSync(`${folder}/file`, bytes);
  for (const encoding of encodings) {
    same(
      `readFile of ${title} as ${encoding}`,
      (fs, path) => fs.readFile(`${path}/file`, encoding),
      {
        arrange,
      },
    );
    same(
      `readFile of ${title} as { encoding: ${encoding} }`,
      (fs, path) => fs.readFile(`${path}/file`, { encoding }),
      { arrange },
    );
  }
}

const texts = ['plain', 'Grüße 😀', '\ud800 alone', 'cafe', 'caf', 'no hex', 'Y2Fm6Q==', ''];
for (const text of texts) {
  for (const encoding of encodings) {
    const title = `${JSON.stringify(text)} as ${encoding}`;
    same(`appendFile of ${title}`, (fs, path) => fs.appendFile(`${path}/new`, text, encoding));
    same(`writeFile of ${title}`, (fs, path) => fs.writeFile(`${path}/new`, text, { encoding }));
  }
}
