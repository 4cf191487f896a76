#!/usr/bin/env node
/** `millrace report`: what experiments have found, as a page or as Markdown. */
import { parseArgs } from 'node:util';
import { nearest } from '../experiment/form.js';
import { LabError } from '../load/errors.js';
import { watchOutput } from '../run/output.js';
import { readResults } from './read.js';

const OPTIONS = {
  html: { type: 'string' },
  markdown: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
};

const USAGE = `Usage: millrace report RESULTS.json... [options]

Makes one report of the results of one or several experiments. Without an
option it prints Markdown.

  --html FILE      a page that needs nothing else, with charts and the raw data
  --markdown FILE  sentences and tables
  --help           this text (-h)

Exit codes: 0 done, 1 failed, 2 bad option.`;

let options;
try {
  options = readArgs();
} catch (error) {
  console.error(error.message);
  process.exit(2);
}

watchOutput();
try {
  if (options.help) console.log(USAGE);
  else await report(options);
} catch (error) {
  console.error(error instanceof LabError ? `Failed: ${error.message}.` : error.stack);
  process.exitCode = 1;
}

async function report({ paths, html, markdown }) {
  const results = paths.map(readResults);
  // Loaded late: the charts take longer to load than a mistake to tell.
  const { renderMarkdown, writeReport } = await import('./index.js');
  if (html === undefined && markdown === undefined) {
    process.stdout.write(renderMarkdown(results));
    return;
  }
  writeReport({ results, html, markdown });
  for (const path of [html, markdown]) if (path !== undefined) console.log(`report: ${path}`);
}

function readArgs() {
  const { values, positionals } = parse();
  if (positionals.length === 0 && !values.help) {
    throw new Error('no file of results is named; millrace report --help tells more');
  }
  for (const name of ['html', 'markdown']) {
    if (values[name] === '') throw new Error(`--${name} is empty; it must be the path of a file`);
  }
  return { ...values, paths: positionals };
}

function parse() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const [, option] = /^Unknown option '(.*?)'/.exec(error.message) ?? [];
    if (option === undefined) throw error;
    const near = nearest(option.replace(/^-+/, ''), Object.keys(OPTIONS));
    const hint = near === null ? '--help lists them.' : `did you mean --${near}?`;
    throw new Error(`${option} is not an option; ${hint}`);
  }
}
