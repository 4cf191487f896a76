/** Every kind of path, and everything that is none: as with node:fs/promises. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { same } from './same.js';

const arrange = (folder) => writeFileSync(`${folder}/file`, 'content');

const paths = {
  'a string': (folder) => `${folder}/file`,
  'a relative path': (folder) => relative('.', `${folder}/file`),
  'a path that is not normalized': (folder) => `${folder}/./x/..//file`,
  'a Buffer': (folder) => Buffer.from(`${folder}/file`),
  'a Uint8Array': (folder) => new Uint8Array(Buffer.from(`${folder}/file`)),
  'a Buffer that is not UTF-8': (folder) => Buffer.from(`${folder}/\xff\xfe`, 'latin1'),
  'a Uint16Array': (folder) => new Uint16Array([...Buffer.from(`${folder}/file`)]),
  'a string with a lone surrogate': (folder) => `${folder}/\ud800`,
  'a string in another script': (folder) => `${folder}/файл-文件-😀`,
  'a URL': (folder) => pathToFileURL(`${folder}/file`),
  'a URL with escapes': (folder) => pathToFileURL(`${folder}/a b%c#d`),
  'a URL with an escaped NUL': (folder) => new URL(`${pathToFileURL(folder)}/a%00b`),
  'a URL with an escaped slash': (folder) => new URL(`${pathToFileURL(folder)}/a%2Fb`),
  'a URL with a host': () => new URL('file://example.org/file'),
  'a URL of another scheme': () => new URL('https://example.org/file'),
  'a string that looks like a URL': (folder) => `file://${folder}/file`,
  'a NUL': (folder) => `${folder}/a\0b`,
  'a NUL in a Buffer': (folder) => Buffer.from(`${folder}/a\0b`),
  'an empty string': () => '',
  'an empty Buffer': () => Buffer.alloc(0),
  'a file that is not there': (folder) => `${folder}/none`,
  'a folder that is not there': (folder) => `${folder}/none/file`,
  'a folder': (folder) => folder,
  'a file as a folder': (folder) => `${folder}/file/file`,
  'a slash at the end': (folder) => `${folder}/file/`,
  'a loop of links': (folder) => {
    symlinkSync('loop', `${folder}/loop`);
    return `${folder}/loop`;
  },
  'a link that leads nowhere': (folder) => {
    symlinkSync('there', `${folder}/here`);
    return `${folder}/here`;
  },
  'a name that is too long': (folder) => `${folder}/${'x'.repeat(300)}`,
  'a path that is too long': (folder) => `${folder}/${'x/'.repeat(3000)}`,
  'a number': () => 1,
  undefined: () => undefined,
  null: () => null,
  'an object': () => ({}),
  'an array': (folder) => [`${folder}/file`],
  'a symbol': () => Symbol('file'),
  'a String object': (folder) => new String(`${folder}/file`),
};

for (const [title, path] of Object.entries(paths)) {
  same(`readFile of ${title}`, (fs, folder) => fs.readFile(path(folder)), { arrange });
  same(`writeFile to ${title}`, (fs, folder) => fs.writeFile(path(folder), 'new'), { arrange });
  same(`appendFile to ${title}`, (fs, folder) => fs.appendFile(path(folder), 'new'), { arrange });
}
