/** Reads the commands of a shell snippet, so that they can be looked at without being run. */

/**
 * The commands of a snippet, each as its words. Comments are left out; what is quoted is one word.
 *
 * @param {string} code
 * @returns {string[][]}
 */
export function commandsOf(code) {
  const commands = [];
  let words = [];
  let word = null;
  const endWord = () => {
    if (word !== null) words.push(word);
    word = null;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  const tokens = code.replace(/\\\n/g, ' ').matchAll(TOKEN);
  for (const [token] of tokens) {
    if (/^(&&|\|\|?|&|;|\n)$/.test(token)) endCommand();
    else if (/^[^\S\n]+$/.test(token)) endWord();
    else if (token.startsWith('#') && word === null) continue;
    else word = (word ?? '') + token.replace(/^(['"])([\s\S]*)\1$/, '$2');
  }
  endCommand();
  return commands;
}

/** Ends of commands, blanks, quoted text, a comment to the end of its line, and anything else. */
const TOKEN = /&&|\|\|?|&|;|\n|[^\S\n]+|'[^']*'|"(?:\\.|[^"\\])*"|(?<=^|\s)#[^\n]*|[^\s&|;'"]+/g;
