/** Reports: what an experiment has found, for people. */
import { writeFileSync } from 'node:fs';
import { LabError } from '../load/errors.js';
import { markdown as markdownOf } from './markdown.js';
import { page } from './page.js';

export { legend } from './charts/legend.js';
export { armDots, armLine, extent, logTicks, tickText } from './charts/marks.js';
export { bothWidths, captioned, chart, WIDE } from './charts/plot.js';
export { escapeMarkdown, html } from './escape.js';
export { facts } from './facts.js';
export { duration, measured, moment, NONE, pValue, quantity, range, times } from './numbers.js';
export { readResults } from './read.js';
export { rows } from './rows.js';
export { badge } from './sections/verdict.js';
export { controlOf, mainMetric } from './select.js';
export { table } from './table.js';
export { headline } from './text.js';
export { wholePage } from './whole-page.js';

/**
 * Renders a self-contained page with charts, for light and dark, screens, telephones and paper.
 *
 * @param {object | object[]} results one experiment or several
 * @returns {string} HTML; some 100 KB for an experiment of one case, and all of its raw data
 */
export const renderHtml = (results) => page([results].flat());

/**
 * Renders text and tables, for pull requests and documents.
 *
 * @param {object | object[]} results one experiment or several
 * @returns {string} Markdown
 */
export const renderMarkdown = (results) => markdownOf([results].flat());

/**
 * Writes the report to files; what is there is overwritten.
 *
 * @param {object} options
 * @param {object | object[]} options.results one experiment or several
 * @param {string} [options.html] path
 * @param {string} [options.markdown] path
 * @throws {LabError} `MILLRACE_LAB_E_REPORT` when a file cannot be written
 */
export function writeReport({ results, html, markdown }) {
  if (html !== undefined) write(html, renderHtml(results));
  if (markdown !== undefined) write(markdown, renderMarkdown(results));
}

function write(path, text) {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new LabError(
      'MILLRACE_LAB_E_REPORT',
      `the report ${path} was not written: ${error.message}`,
    );
  }
}
