/** A file of the repository that a page links to, as a page. */
import { read } from '../../scripts/lib/paths.js';
import { highlightFile } from './highlight.js';
import { escapeHtml } from './html.js';

/**
 * @param {string} path relative to the root
 * @returns {{ path: string, title: string, html: string, headings: object[] }}
 */
export function shownFile(path) {
  const code = highlightFile(read(path).trimEnd(), path);
  const html = `<h1><code>${escapeHtml(path)}</code></h1>\n<pre><code>${code}</code></pre>\n`;
  return { path, title: path, html, headings: [] };
}
