import { optionLines, print, UsageError, watchOutput } from '@millrace/base/command';
import { fail, readArgs, text } from '../run/command.js';
import { readResults } from './read.js';

const OPTIONS = {
  html: text('FILE', 'a page that needs nothing else, with charts and the raw data'),
  markdown: text('FILE', 'sentences and tables'),
};

const USAGE = `Usage: millrace report RESULTS.json... [options]

Makes one report of the results of one or several experiments. Without an
option it prints Markdown.

${optionLines(OPTIONS)}

Exit codes: 0 done, 1 failed, 2 bad option.`;

/**
 * The command `report`: what experiments have found, as a page or as Markdown.
 *
 * @param {string[]} argv
 * @param {string} [command] what it was called by
 */
export async function reportCommand(argv, command = 'millrace report') {
  watchOutput();
  try {
    const { options, rest } = readArgs(argv, OPTIONS);
    if (options.help) print(USAGE);
    else await report(rest, options);
  } catch (error) {
    fail(command, error);
  }
}

async function report(paths, { html, markdown }) {
  if (paths.length === 0) throw new UsageError('no file of results is named.');
  const results = paths.map(readResults);
  // Loaded late: the charts take longer to load than a mistake to tell.
  const { renderMarkdown, writeReport } = await import('./index.js');
  if (html === undefined && markdown === undefined) {
    process.stdout.write(renderMarkdown(results));
    return;
  }
  writeReport({ results, html, markdown });
  for (const path of [html, markdown]) if (path !== undefined) print(`report: ${path}`);
}
