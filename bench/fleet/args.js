import { optionLines, UsageError } from '@millrace/base/command';
import { flag, readOnlyOptions, text } from '@millrace/lab/run';
import { inputs, placements } from './inputs.js';
import { profiles } from './profiles.js';

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const OPTIONS = {
  profile: text('NAME', `${Object.keys(profiles).join(', ')} (chat)`),
  members: text(
    'LIST',
    'size of rooms, or several with the share of members in them: 2:0.9,1000:0.1',
  ),
  placement: text('HOW', `${placements.join(' or ')}: where the members of a room are connected`),
  cells: text('N', 'fleets that share no room (as few as will do)'),
  ...Object.fromEntries(
    inputs.map(({ name, unit, standard, text: meaning, source }) => [
      kebab(name),
      text('N', `${meaning} (${standard}${unit && ` ${unit}`}, ${source})`),
    ]),
  ),
  json: flag('the fleet as one JSON object'),
  html: text('FILE', 'a page: fleets of 100,000 to 100 million connections'),
  markdown: text('FILE', 'the same as text'),
};

/** Text of `--help`. */
export const USAGE = `Usage: node bench/fleet/model.js [options]

The machines and brokers that a fleet of WebSockets in rooms needs, and what it
costs.

${optionLines(OPTIONS)}

With a profile, other options replace what it says. Exit codes: 0 done, 1 no
fleet will do or a file was not written, 2 bad option.`;

/**
 * @param {string[]} argv
 * @returns {{ given: object, profile: string | undefined, json: boolean, html: string | undefined, markdown: string | undefined,
 *   help: boolean }} `given` is without what the profile says
 * @throws {UsageError} one sentence: what is wrong, and what is allowed
 */
export function readFleetArgs(argv) {
  const { profile, json, html, markdown, help, members, placement, cells, ...texts } =
    readOnlyOptions(argv, OPTIONS);
  if (profile !== undefined && !Object.hasOwn(profiles, profile)) {
    throw new UsageError(
      `there is no profile "${profile}"; there are ${Object.keys(profiles).join(', ')}.`,
    );
  }
  const given = {};
  for (const { name } of inputs) {
    const value = texts[kebab(name)];
    if (value !== undefined) given[name] = number(kebab(name), value);
  }
  if (members !== undefined) given.members = sizes(members);
  if (placement !== undefined) given.placement = placement;
  if (cells !== undefined) given.cells = cells === 'auto' ? cells : number('cells', cells);
  return { given, profile, json, html, markdown, help };
}

/** `50`, or `2:0.9,1000:0.1`. */
function sizes(list) {
  if (!list.includes(':')) return [[number('members', list), 1]];
  return list.split(',').map((part) => {
    const [many, share, ...more] = part.split(':');
    if (share === undefined || more.length > 0) {
      throw new UsageError(`--members has "${part}"; it must be a size and a share, as 1000:0.1.`);
    }
    return [number('members', many), number('members', share)];
  });
}

/** Reads a number; the inputs check its range. */
function number(name, given) {
  const value = Number(given);
  if (given.trim() !== '' && Number.isFinite(value)) return value;
  throw new UsageError(`--${name} is "${given}"; it must be a number.`);
}
