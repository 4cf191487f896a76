/** Which input moves the answer most. */
import { fleetOf } from './fleet.js';
import { inputs, scenario } from './inputs.js';

/**
 * The cost of the fleet with each input halved and doubled, as far as its range allows, and the others as they are; `members` stands for
 * the sizes of all rooms.
 *
 * @param {object} given as for `scenario`
 * @returns {{ name: string, source: string, less: Change, more: Change, swing: number }[]} the one that moves it most comes first;
 *   inputs that move it by less than a thousandth are left out. `swing`: the largest factor between any two of the three costs.
 *   Takes two fleets an input, together some 100 ms
 *
 * @typedef {{ cost: number | null, servers: number | null }} Change the cost, and machines and brokers together, against those of the
 *   fleet as it is; null where no fleet is possible
 */
export function sensitivity(given) {
  const s = scenario(given);
  const base = fleetOf(s);
  if (!base.isPossible) return [];
  const servers = ({ machines, brokers }) => machines + brokers;
  const change = (changed) => {
    const found = fleetOf({ ...s, ...changed });
    if (!found.isPossible) return { cost: null, servers: null };
    return {
      cost: found.cost.perMonth / base.cost.perMonth,
      servers: servers(found) / servers(base),
    };
  };
  return [
    { name: 'members', source: 'yours', by: (factor) => ({ members: sizes(s, factor) }) },
    ...inputs
      .filter(({ name }) => name !== 'connections' && s[name] > 0)
      .map((each) => ({
        ...each,
        by: (factor) => ({ [each.name]: within(each, s[each.name] * factor) }),
      })),
  ]
    .map(({ name, source, by }) => {
      const [less, more] = [change(by(0.5)), change(by(2))];
      const costs = [1, less.cost ?? 1, more.cost ?? 1];
      return { name, source, less, more, swing: Math.max(...costs) / Math.min(...costs) };
    })
    .filter(({ swing, less, more }) => swing > 1.001 || less.cost === null || more.cost === null)
    .sort((a, b) => b.swing - a.swing);
}

/** Rooms of other sizes, with the same share of members. */
const sizes = ({ members, connections }, factor) =>
  members.map(([many, share]) => [
    Math.min(connections, Math.max(1, Math.round(many * factor))),
    share,
  ]);

function within({ least, most, isWhole }, value) {
  const kept = Math.min(most, Math.max(least, value));
  return isWhole ? Math.max(least, Math.round(kept)) : kept;
}
