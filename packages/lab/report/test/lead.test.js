/** Lead-in of a report. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHTML } from 'linkedom';
import { renderHtml, renderMarkdown } from '../index.js';
import { sampleResults } from './sample.js';

const ABOUT = `A: node 'a|b'.js
B: node a.js --cache
Proof: what it says: twice
And a sentence of its own.`;

const results = (about) => ({ ...sampleResults({ rounds: 6 }), about });

test('lines with names are the rows of a table, others are paragraphs', () => {
  const { document } = parseHTML(renderHtml(results(ABOUT)));
  const rows = [...document.querySelectorAll('.lead tr')].map((row) => [
    row.querySelector('th').textContent,
    row.querySelector('td').textContent,
  ]);
  assert.deepEqual(rows, [
    ['A', "node 'a|b'.js"],
    ['B', 'node a.js --cache'],
    ['Proof', 'what it says: twice'],
  ]);
  assert.deepEqual(
    [...document.querySelectorAll('.lead code')].map(({ textContent }) => textContent),
    ["node 'a|b'.js", 'node a.js --cache'],
  );
  const paragraphs = [...document.querySelectorAll('.about')].map((each) => each.textContent);
  assert.deepEqual(paragraphs, ['And a sentence of its own.']);
});

test('it is a table in Markdown as well', () => {
  assert.match(
    renderMarkdown(results(ABOUT)),
    /^\| A \| node 'a\\\|b'\.js \|\n\| B \| node a\.js --cache \|\n\| Proof \| .* \|\n\nAnd a sentence/m,
  );
});

test('prose stays prose', () => {
  for (const about of ['Note: one thing.', 'First line.\nSecond line.', null]) {
    const { document } = parseHTML(renderHtml(results(about)));
    assert.equal(document.querySelector('.lead'), null);
    const lines = about?.split('\n') ?? [];
    assert.equal(document.querySelectorAll('.about').length, lines.length);
  }
});

test('figures that are filled up for a column have nothing but their digits beside the fill', () => {
  const { document } = parseHTML(renderHtml(results(null)));
  const fills = [...document.querySelectorAll('.figures .fill')];
  assert.ok(fills.length > 0);
  for (const fill of fills) assert.equal(fill.textContent.trim(), '');
});
