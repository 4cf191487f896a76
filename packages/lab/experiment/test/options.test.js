import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { USAGE as COMPARE_USAGE, OPTIONS as OF_COMPARE } from '../../compare/options.js';
import { OPTIONS as OF_TUNE, USAGE as TUNE_USAGE } from '../../tune/options.js';
import { OPTIONS, USAGE } from '../options.js';

const ROW = /^\| (?:`-([a-zA-Z])`, )?`--([a-z-]+)` \| (.*?) ?\| (.*?) ?\| .+ \|$/gm;
const page = readFileSync(new URL('../../../../docs/reference/lab.md', import.meta.url), 'utf8');

/** The options of a table, below the heading of a section. */
function toldIn(heading) {
  const [, section] = page.split(`## ${heading}\n`);
  const [rows] = section.split(/^#/m);
  return [...rows.matchAll(ROW)].map(([, short = '', name, value]) => [name, short, value]);
}

const described = (options) =>
  Object.entries(options).map(([name, { value = '', short = '', range }]) => [
    name,
    short,
    range === undefined ? value : range.join(' to '),
  ]);

for (const [heading, options] of Object.entries({
  'Options of compare': OF_COMPARE,
  Tune: OF_TUNE,
  'Options of experiment': OPTIONS,
})) {
  test(`docs/reference/lab.md has them all, with their values: ${heading}`, () => {
    const known = [...described(options), ['help', 'h', '']];
    assert.deepEqual(toldIn(heading).sort(), known.sort());
  });
}

test('the usage fits a terminal', () => {
  for (const line of `${USAGE}\n${COMPARE_USAGE}\n${TUNE_USAGE}`.split('\n'))
    assert.ok(line.length <= 80, line);
});
