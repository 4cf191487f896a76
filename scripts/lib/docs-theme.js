/**
 * Look of the pages of the API: a signature is a line with its types, below it what its doc comment says. Left out is what is said
 * by the signature already, and what is inherited from Node.js.
 */
import { typed } from './paths.js';

/**
 * A plug-in of TypeDoc with the theme `millrace`.
 *
 * @param {typeof import('typedoc-plugin-markdown')} markdown
 * @param {typeof import('typedoc').PageEvent} PageEvent
 * @returns {(application: import('typedoc').Application) => void}
 */
export function docsTheme({ MarkdownTheme, MarkdownThemeContext }, PageEvent) {
  class Context extends MarkdownThemeContext {
    constructor(...args) {
      super(...args);
      this.partials = {
        ...this.partials,
        signature: (model, options) => signature(this, model, options),
        accessor: (model) => accessor(this, model),
        inheritance: () => '',
      };
    }
  }
  class Theme extends MarkdownTheme {
    getRenderContext(page) {
      return new Context(this, page, this.application.options);
    }
  }
  return ({ renderer }) => {
    renderer.defineTheme('millrace', Theme);
    renderer.on(PageEvent.END, (page) => {
      page.contents = page.url === 'README.md' ? index(page.model) : tidy(page.contents);
    });
  };
}

/** A getter looks as what it is to who reads it: a value. */
function accessor(context, { name, getSignature, setSignature }) {
  const type = context.partials.someType((getSignature ?? setSignature.parameters[0]).type);
  const { comment } = getSignature ?? setSignature;
  const title = `> **${name}**: ${type}${getSignature && setSignature ? ', can be set' : ''}`;
  return comment ? `${title}\n\n${textOf(context, comment.summary)}` : title;
}

function signature(context, model, options) {
  const text = (parts) => textOf(context, parts);
  const comment = ownComment(model, options);
  const parameters = (comment ? (model.parameters ?? []) : [])
    .filter((each) => each.comment)
    .map((each) => `- \`${each.name}\`: ${text(each.comment.summary)}`);
  const title = { accessor: options.accessor };
  return [
    options.hideTitle ? '' : context.partials.signatureTitle(model, title),
    comment ? text(comment.summary) : '',
    parameters.join('\n'),
    ...(comment?.blockTags ?? []).map(({ tag, content }) => `${TAGS[tag]} ${text(content)}`),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const textOf = (context, parts) =>
  context.helpers
    .getCommentParts(parts)
    .trim()
    // Four spaces are code.
    .replace(/\n {1,3}(?=\S)/g, '\n');

/**
 * The comment of a signature. That of Node.js, which says since when there is a function, is none: a method that is replaced has it,
 * and a function of the same type.
 */
function ownComment({ comment, parent }, { multipleSignatures }) {
  const isOurs = (of) =>
    of && !of.inheritedFromParentDeclaration && !of.blockTags?.some(({ tag }) => tag === '@since');
  if (multipleSignatures && parent?.comment) return undefined;
  return [comment, multipleSignatures ? undefined : parent?.comment].find(isOurs);
}

/** Tags of doc comments, as they begin a paragraph. */
const TAGS = { '@throws': 'Throws', '@returns': 'Returns', '@see': 'See' };

/** Removes rules between sections, and columns of dashes. */
function tidy(page) {
  return `${page
    .replace(/^\*\*\*\n\n/gm, '')
    .replace(/\| - \|$/gm, '| |')
    .trim()}\n`;
}

/** A module is named after its page: `guard/cached` in the tag `@module`, for what is imported as `@millrace/guard/cached`. */
export const importedAs = (name) =>
  name === 'millrace' ? name : `${packageOf(name) === 'millrace' ? '' : '@'}millrace/${name}`;

const packageOf = (name) => typed.find((folder) => name.split('/')[0] === folder) ?? 'millrace';

/** The entry points of `millrace`, then those of the other packages, each after those that it uses. */
function index({ children }) {
  const order = ['millrace', ...typed.filter((folder) => folder !== 'millrace')];
  const modules = order.flatMap((folder) =>
    children
      .filter(({ name }) => packageOf(name) === folder)
      .sort((a, b) => (b.name === folder) - (a.name === folder) || (a.name < b.name ? -1 : 1)),
  );
  const links = modules
    .map(({ name, comment }) => `- [${importedAs(name)}](${name}.md)${firstSentence(comment)}`)
    .join('\n');
  return `# API\n\nWhat each entry point exports, from the doc comments of \`packages\`. \`make docs\` writes these pages; the guides are in\n[docs](../README.md).\n\n${links}\n`;
}

/** First sentence of the comment of a module, in a line of its own. */
function firstSentence(comment) {
  const text = (comment?.summary ?? []).map(({ text }) => text).join('');
  const [sentence] = text
    .replace(/\s+/g, ' ')
    .trim()
    .split(/(?<=\.) (?=[A-Z])/);
  return sentence ? `\\\n  ${sentence}` : '';
}
