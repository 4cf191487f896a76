/** Every snippet of JavaScript and TypeScript runs as it stands, and does what its page says where that can be checked. */
import { describe, test } from 'node:test';
import { ofKind } from './lib/all.js';
import { isAlone, runSnippet, runTogether } from './lib/javascript.js';

/** Most snippets that share a process: a start costs more than most of them. */
const SHARING = 12;

const snippets = ofKind('javascript', 'typescript');
const alone = snippets.filter(isAlone);
const sharing = snippets.filter((snippet) => !isAlone(snippet));
const groups = Array.from({ length: Math.ceil(sharing.length / SHARING) }, (_, i) =>
  sharing.slice(i * SHARING, (i + 1) * SHARING),
);
const titleOf = ({ id, line }) => `${id} (line ${line})`;

describe('snippets of JavaScript run', { concurrency: 3 }, () => {
  for (const snippet of alone) test(titleOf(snippet), () => runSnippet(snippet));

  for (const group of groups) {
    test(`${group[0].page} to ${group.at(-1).page}`, async (t) => {
      const ran = await runTogether(group);
      for (const snippet of group) {
        // One that has failed among others does so by itself, too, or there is nothing wrong with it.
        await t.test(titleOf(snippet), () => ran.has(snippet) || runSnippet(snippet));
      }
    });
  }
});
