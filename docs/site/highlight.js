/** Code as HTML with its words told apart. */
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { kindOf } from '../lib/kind.js';
import { escapeHtml } from './html.js';

const languages = { bash, c, diff, dockerfile, go, ini, javascript, json, typescript, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

/** What a block is written in, where it does not say so; our kinds have other names than the languages. */
function languageOf(code, fence, page) {
  if (fence) return fence;
  const kind = kindOf(code, { page });
  return kind === 'shell' ? 'bash' : kind;
}

/**
 * @param {string} code
 * @param {{ fence?: string, page: string }} where the language that the block names, and the file that it is in
 * @returns {string} HTML
 */
export function highlight(code, { fence, page }) {
  const language = languageOf(code, fence, page);
  if (hljs.getLanguage(language) === undefined) return escapeHtml(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

/** A file of the repository. Without a language by its name it is shown as it is. */
export const highlightFile = (code, path) =>
  highlight(code, { fence: /\.([a-z]+)$/.exec(path)?.[1] ?? 'text', page: path });
