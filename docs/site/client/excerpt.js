/** The part of a text that shows best what was found in it, with the words marked. */
import { termsOf, wordsOf } from '../terms.js';

const LENGTH = 170;
const BEFORE = 40;

/**
 * @param {string} text
 * @param {Set<string>} terms that were found
 * @returns {Node[]}
 */
export function excerpt(text, terms) {
  const found = matchesOf(text, terms);
  const start = bestStart(text, found);
  const end = start + LENGTH >= text.length ? text.length : text.lastIndexOf(' ', start + LENGTH);
  const nodes = marked(
    text,
    found.filter((each) => each.start >= start && each.end <= end),
    start,
    end,
  );
  return [...(start > 0 ? ['… '] : []), ...nodes, ...(end < text.length ? [' …'] : [])];
}

/** A whole text with its words marked. */
export const withMarks = (text, terms) => marked(text, matchesOf(text, terms), 0, text.length);

function matchesOf(text, terms) {
  let end = 0;
  return wordsOf(text).flatMap((word) => {
    const start = text.indexOf(word, end);
    end = start + word.length;
    const term = termsOf(word).find((each) => terms.has(each));
    return term === undefined ? [] : [{ start, end, term }];
  });
}

/** Where most of the terms are in sight. */
function bestStart(text, found) {
  let best = { count: 0, start: 0 };
  for (const { start } of found) {
    const inSight = found.filter(
      (each) => each.start >= start && each.end <= start + LENGTH - BEFORE,
    );
    const count = new Set(inSight.map(({ term }) => term)).size;
    if (count > best.count) best = { count, start };
  }
  if (best.start <= BEFORE) return 0;
  return text.indexOf(' ', best.start - BEFORE) + 1;
}

function marked(text, found, start, end) {
  const nodes = [];
  let at = start;
  for (const match of found) {
    const mark = document.createElement('mark');
    mark.textContent = text.slice(match.start, match.end);
    nodes.push(text.slice(at, match.start), mark);
    at = match.end;
  }
  return [...nodes, text.slice(at, end)];
}
