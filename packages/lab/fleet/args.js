import { parseArgs } from 'node:util';
import { LabError } from '../load/errors.js';
import { inputs, placements } from './inputs.js';
import { profiles } from './profiles.js';

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const WIDTH = 80;
const INDENT = 25;

/** An option and what it is, in lines of 80 columns. */
function line(name, text) {
  const lines = [''];
  for (const word of text.split(' ')) {
    if (lines.at(-1).length + word.length + 1 > WIDTH - INDENT) lines.push('');
    lines[lines.length - 1] += `${lines.at(-1) && ' '}${word}`;
  }
  return `  --${name.padEnd(INDENT - 4)}${lines.join(`\n${' '.repeat(INDENT)}`)}`;
}

/** What `--help` prints. */
export const USAGE = `Usage: node packages/lab/fleet/main.js [options]

The machines and brokers that a fleet of WebSockets in rooms needs, and what it
costs.

${[
  line('profile NAME', `${Object.keys(profiles).join(', ')} (chat)`),
  line(
    'members LIST',
    'size of rooms, or several with the share of members in them: 2:0.9,1000:0.1',
  ),
  line('placement HOW', `${placements.join(' or ')}: where the members of a room are connected`),
  line('cells N', 'fleets that share no room (as few as will do)'),
  ...inputs.map(({ name, unit, standard, text, source }) =>
    line(`${kebab(name)} N`, `${text} (${standard}${unit && ` ${unit}`}, ${source})`),
  ),
].join('\n')}

${[
  line('json', 'the fleet as one JSON object'),
  line('html FILE', 'a page: fleets of 100,000 to 100 million connections'),
  line('markdown FILE', 'the same as text'),
  line('help', 'this text (-h)'),
].join('\n')}

With a profile, other options replace what it says. Exit codes: 0 done, 1 no
fleet will do or a file was not written, 2 bad option.`;

/**
 * @param {string[]} argv
 * @returns {{ given: object, profile: string | undefined, json: boolean, html: string | undefined, markdown: string | undefined,
 *   help: boolean }} `given` is without what the profile says
 * @throws {Error} one sentence: what is wrong, and what is allowed
 */
export function readFleetArgs(argv) {
  const string = { type: 'string' };
  const { values } = parseArgs({
    args: argv,
    options: {
      ...{ profile: string, members: string, placement: string, cells: string },
      ...Object.fromEntries(inputs.map(({ name }) => [kebab(name), string])),
      ...{ html: string, markdown: string, json: { type: 'boolean', default: false } },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { profile, json, html, markdown, help, members, placement, cells } = values;
  if (profile !== undefined && !Object.hasOwn(profiles, profile)) {
    throw invalid(
      `there is no profile "${profile}"; there are ${Object.keys(profiles).join(', ')}`,
    );
  }
  for (const [name, path] of Object.entries({ html, markdown })) {
    if (path === '') throw invalid(`--${name} is empty; it must be the path of a file`);
  }
  const given = {};
  for (const { name } of inputs) {
    const text = values[kebab(name)];
    if (text !== undefined) given[name] = number(kebab(name), text);
  }
  if (members !== undefined) given.members = sizes(members);
  if (placement !== undefined) given.placement = placement;
  if (cells !== undefined) given.cells = cells === 'auto' ? cells : number('cells', cells);
  return { given, profile, json, html, markdown, help };
}

/** `50`, or `2:0.9,1000:0.1`. */
function sizes(text) {
  if (!text.includes(':')) return [[number('members', text), 1]];
  return text.split(',').map((part) => {
    const [many, share, ...more] = part.split(':');
    if (share === undefined || more.length > 0) {
      throw invalid(`--members has "${part}"; it must be a size and a share, as 1000:0.1`);
    }
    return [number('members', many), number('members', share)];
  });
}

function number(name, text) {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw invalid(`--${name} is "${text}"; it must be a number`);
}

const invalid = (message) => new LabError('MILLRACE_LAB_E_INVALID_OPTION', message);
