import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { html, markup } from './escape.js';
import { downloadSection } from './sections/download.js';
import { findingsSection } from './sections/findings.js';
import { measuredSection } from './sections/measured.js';
import { overviewSection } from './sections/overview.js';
import { verdictSection } from './sections/verdict.js';

const style = readFileSync(new URL('./style.css', import.meta.url), 'utf8');

/** Nothing may be loaded, run or sent; of styles only the page's own. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/**
 * The page: one file that needs nothing else.
 *
 * @param {object[]} all results, one or more
 * @returns {string}
 */
export function page(all) {
  const entries = all.map((results, i) => ({ results, id: `experiment-${i + 1}` }));
  const title = all.length === 1 ? all[0].question : `${all.length} experiments`;
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
${
  all.length > 1 &&
  html`<header><p class="kicker">Millrace lab</p><h1>${title}</h1></header>
${overviewSection(entries)}`
}${entries.map(({ results, id }) => article(results, id, all.length === 1))}</main>
</body>
</html>
`.toString();
}

function article(results, id, isAlone) {
  const { experiment, question, about, date } = results;
  const day = String(date).slice(0, 10);
  return html`<article id="${id}">
<header>
<p class="kicker">${isAlone && 'Millrace lab, '}${experiment}, <time datetime="${date}">${day}</time></p>
${isAlone ? html`<h1>${question}</h1>` : html`<h2>${question}</h2>`}
</header>
${verdictSection(results)}${about && html`<p class="about">${about}</p>\n`}${findingsSection(results)}${measuredSection(results)}${downloadSection(results)}</article>
`;
}
