/** All blocks of code of the repository's documents. */
import { files } from '../../../scripts/lib/files.js';
import { isListed } from './listed.js';
import { snippetsOf } from './snippets.js';

export const snippets = files('.')
  .filter((path) => path.endsWith('.md'))
  .flatMap((page) => snippetsOf(page));

/** Those of some kinds that are tested here. */
export const ofKind = (...kinds) =>
  snippets.filter((snippet) => kinds.includes(snippet.kind) && !isListed(snippet));
