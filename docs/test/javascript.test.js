/** Every snippet of JavaScript and TypeScript runs as it stands, and does what its page says where that can be checked. */
import { describe, test } from 'node:test';
import { ofKind } from './lib/all.js';
import { runSnippet } from './lib/javascript.js';

describe('snippets of JavaScript run', { concurrency: 3 }, () => {
  for (const snippet of ofKind('javascript', 'typescript')) {
    test(`${snippet.id} (line ${snippet.line})`, () => runSnippet(snippet));
  }
});
