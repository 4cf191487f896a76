import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

const FILES = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/icon.svg': ['icon.svg', 'image/svg+xml'],
};
const SCRIPTS = [
  'app.js',
  'chrome.js',
  'composer.js',
  'connection.js',
  'elements.js',
  'frames.js',
  'link.js',
  'log.js',
  'messages.js',
  'more-rooms.js',
  'navigation.js',
  'saved.js',
  'sides.js',
  'state.js',
  'uploads.js',
];
for (const name of SCRIPTS) FILES[`/${name}`] = [name, 'text/javascript; charset=utf-8'];

export const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** The web page, read once and served from memory. */
export async function servePage(app) {
  for (const [path, [name, type]] of Object.entries(FILES)) {
    const body = await readFile(new URL(`./public/${name}`, import.meta.url));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 20)}"`;
    app.get(path, (request, reply) => {
      reply.headers({ ...SECURITY_HEADERS, etag, 'cache-control': 'no-cache' });
      if (request.headers['if-none-match'] === etag) return reply.code(304).send();
      return reply.type(type).send(body);
    });
  }
}
