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

test('docs/reference/lab.md has the options of compare, with their values', () => {
  const known = [...described(OF_COMPARE), ['help', 'h', '']];
  assert.deepEqual(toldIn('Options of compare').sort(), known.sort());
});

for (const [heading, options] of Object.entries({
  Tune: OF_TUNE,
  'Options of experiment': OPTIONS,
})) {
  test(`docs/reference/lab.md has those that compare has not, with their values: ${heading}`, () => {
    const told = new Set(toldIn(heading).map(String));
    const known = new Set([...described(options), ['help', 'h', '']].map(String));
    const shared = new Set([...described(OF_COMPARE), ['help', 'h', '']].map(String));
    assert.deepEqual(
      [...told].filter((option) => !known.has(option)),
      [],
    );
    assert.deepEqual(
      [...known].filter((option) => !shared.has(option) && !told.has(option)),
      [],
    );
  });
}

test('the usage fits a terminal', () => {
  for (const line of `${USAGE}\n${COMPARE_USAGE}\n${TUNE_USAGE}`.split('\n'))
    assert.ok(line.length <= 80, line);
});
