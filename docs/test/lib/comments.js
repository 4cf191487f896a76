/** What doc comments do not say, found in what TypeDoc knows. */

/** What a number counts or measures. */
const UNIT =
  /\b(ms|seconds?|bytes|share|utilization|priority|port|\w*reads|batches|calls|chunks|cohorts|connections|copies|deaths|delay|events|failures|files|full|hold ends|how often|lines|longest|messages|niceness|processes|queries|requests|routes|rows|samples|sockets|tasks|threads|workers|worker)\b/i;
const RANGE = /\bto\b|\bup to\b|\bat least\b|\bor more\b|\babove\b/;
const DEFAULT = /\bdefault/i;

/**
 * The exported names without a doc comment.
 *
 * @param {object} model TypeDoc's JSON of the project
 * @returns {string[]} `MODULE: NAME`
 */
export function undocumented({ children }) {
  return children.flatMap((module) =>
    (module.children ?? [])
      .filter((each) => each.variant !== 'reference' && textOf(each) === '')
      .map(({ name }) => `${module.name}: ${name}`),
  );
}

/**
 * The options that are numbers and whose comment lacks unit, default or range. An option is a property of an interface whose name
 * ends in Options or Settings.
 *
 * @param {object} model TypeDoc's JSON of the project
 * @returns {string[]} `MODULE: INTERFACE.OPTION` and what is missing
 */
export function unclearNumbers({ children }) {
  return children.flatMap((module) =>
    (module.children ?? [])
      .filter(({ name }) => /(Options|Settings)$/.test(name))
      .flatMap((options) =>
        (options.children ?? [])
          .filter(({ type }) => isNumber(type))
          .flatMap((option) =>
            missing(option).map(
              (what) => `${module.name}: ${options.name}.${option.name} has no ${what}`,
            ),
          ),
      ),
  );
}

/** Their value is an object whose own options tell their defaults. */
const COMPOSED = /(Limits|Options)$/;
/** One comment stands for both. */
const TOGETHER = ['BrokerOptions.password'];
/** What is given is a part of these. */
const PARTS = ['QueueOptions', 'RetainOptions'];

/**
 * The options that may be left out, and whose comment does not say what then holds. Functions that are told something, `on…`, are
 * not called then.
 *
 * @param {object} model TypeDoc's JSON of the project
 * @returns {string[]} `MODULE: INTERFACE.OPTION`, and what it lacks
 */
export function withoutDefault({ children }) {
  return children.flatMap((module) =>
    (module.children ?? [])
      .filter(({ name }) => /(Options|Settings)$/.test(name))
      .flatMap((options) =>
        (options.children ?? [])
          .filter(({ flags }) => flags?.isOptional || PARTS.includes(options.name))
          .filter(({ name, type }) => !/^on[A-Z]/.test(name) && !COMPOSED.test(type?.name))
          .filter((option) => !DEFAULT.test(textOf(option)))
          .map(({ name }) => `${options.name}.${name}`)
          .filter((name) => !TOGETHER.includes(name))
          .map((name) => `${module.name}: ${name} does not say “Default: …”`),
      ),
  );
}

function missing(option) {
  const text = textOf(option);
  return [
    ...(UNIT.test(text) ? [] : ['unit']),
    ...(RANGE.test(text) ? [] : ['range']),
    // What has to be given has none.
    ...(DEFAULT.test(text) || !option.flags?.isOptional ? [] : ['default']),
  ];
}

const isNumber = (type) =>
  type?.name === 'number' || (type?.type === 'union' && type.types.some(isNumber));

/** A function has its comment at its signatures, a type of a function deeper down. */
function textOf({ comment, signatures = [], type }) {
  const parts = [
    ...(comment?.summary ?? []),
    ...(comment?.blockTags ?? []).flatMap((tag) => tag.content),
  ];
  const inner = [...signatures, ...(type?.declaration?.signatures ?? [])].map(textOf);
  return [...parts.map(({ text }) => text), ...inner].join('').trim();
}
