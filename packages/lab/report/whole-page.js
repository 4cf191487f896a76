/** Frame around the text of every page of the lab: one file that needs nothing else. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { html, markup } from './escape.js';

const style = readFileSync(new URL('./style.css', import.meta.url), 'utf8');

/** Policy by which nothing may be loaded, run or sent; of styles only the page's own. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/**
 * @param {string} title
 * @param {object} body what `html` has made
 * @returns {string}
 */
export function wholePage(title, body) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${markup(style)}</style>
</head>
<body>
<main>
${body}</main>
</body>
</html>
`.toString();
}
