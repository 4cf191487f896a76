/**
 * What a block of code is written in. Most blocks of our documents are indented and do not say so; it is told by what they
 * begin with, and by whether they can be read as a program.
 */
import { Script } from 'node:vm';

/** @typedef {'javascript' | 'typescript' | 'go' | 'c' | 'shell' | 'json' | 'files' | 'other'} Kind */

/** The names that a fence gives to what has a kind here. */
const LANGUAGES = {
  ...{ js: 'javascript', mjs: 'javascript', javascript: 'javascript' },
  ...{ ts: 'typescript', typescript: 'typescript' },
  ...{ sh: 'shell', bash: 'shell', shell: 'shell', console: 'shell' },
  ...{ json: 'json', go: 'go', c: 'c' },
};

const COMMAND =
  /^([A-Z_]+=\S* )*(apt-get|benchstat|build\/\S+|cc|cd|cmake|curl|docker|echo|examples\/\S+\/run|git|go|kill|make|millrace(-js)?|node|npm|npx|prometheus|promtool|sudo|systemctl|taskset|for what in|export [A-Z_]+=\S*|[A-Z_]+=\S+$)\b/m;

/** A line of a list of files: a path or several, two blanks, what they are for. */
const FILES = /^\s*(\S*(\/|\.[a-z]+)\s+\S|(\.\.\/)+\S*$)/;

/**
 * @param {string} code
 * @param {{ language?: string | null, page: string }} where the name after the fence, and the document
 * @returns {Kind}
 */
export function kindOf(code, { language, page }) {
  if (language) return LANGUAGES[language] ?? 'other';
  const [first] = code.split('\n');
  if (/^#include|^\s*(int status = )?uv_\w+[(_]/m.test(code)) return 'c';
  if (/ := |\bfunc\(/.test(code) || /(^|\/)go(-\w+)?(\.md|\/)/.test(page)) {
    if (!COMMAND.test(first) && !/^[-+]|^require \(/.test(first)) return 'go';
  }
  if (COMMAND.test(first)) return 'shell';
  if (isJson(code)) return 'json';
  if (isProgram(code)) return 'javascript';
  return FILES.test(first) ? 'files' : 'other';
}

function isJson(code) {
  if (!/^[[{]/.test(code)) return false;
  try {
    JSON.parse(code);
    return true;
  } catch {
    return false;
  }
}

/** Reports whether it is JavaScript. A script has no imports and exports, so these go first. */
function isProgram(code) {
  // A Dockerfile can look like one.
  if (/^CMD /.test(code)) return false;
  const script = code
    .replace(/^import [^;]*?;/gm, '')
    .replace(/^export (default )?/gm, '')
    .replaceAll('import.meta', 'meta');
  try {
    new Script(`async () => {\n${script}\n}`);
    return true;
  } catch {
    return false;
  }
}
