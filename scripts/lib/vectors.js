import { read } from './paths.js';

/**
 * What is wrong with the form of conformance vectors: the first line names the behaviour, every
 * other statement starts with a word of the grammar in conformance/README.md, and at least one
 * states an outcome. What a statement means is for the engines' own runners to judge.
 *
 * @param {string[]} vectors relative to the root
 * @returns {string[]} one line for each
 */
export function malformedVectors(vectors) {
  const { operations, outcomes } = grammar(read('conformance/README.md'));
  return vectors.flatMap((path) => {
    const [title, ...lines] = read(path).split('\n');
    const wrong = [];
    let stated = 0;
    if (!/^# \S/.test(title)) wrong.push(`${path}:1 does not name the behaviour`);
    for (const [index, line] of lines.entries()) {
      const [word] = line.trim().split(/\s+/);
      if (word === '' || line.startsWith('#')) continue;
      if (outcomes.has(word)) stated++;
      else if (!operations.has(word)) wrong.push(`${path}:${index + 2} has no such word: ${word}`);
    }
    if (stated === 0) wrong.push(`${path} states no outcome`);
    return wrong;
  });
}

/** The words of the grammar: the first of each row in the tables of operations, outcomes, queries. */
function grammar(markdown) {
  const words = (heading) => {
    const table = new RegExp(`^\\| ${heading} \\|.*\\n\\|[-| ]+\\n((?:\\|.*\\n)+)`, 'm').exec(
      markdown,
    );
    return [...table[1].matchAll(/^\| `(\w+)/gm)].map(([, word]) => word);
  };
  return {
    operations: new Set(words('operation')),
    outcomes: new Set([...words('outcome'), ...words('query')]),
  };
}
