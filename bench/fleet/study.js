/** Contents of the page and the document: fleets of several sizes and kinds, and what one of them hangs on. */
import { fleetOf } from './fleet.js';
import { inputs, scenario } from './inputs.js';
import { measurement } from './measured.js';
import { profiles } from './profiles.js';
import { sensitivity } from './sensitivity.js';

/** Connections of the fleets. */
const SIZES = [1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8];

/**
 * @param {object} given inputs that differ from those of the profiles
 * @param {string[]} names of profiles
 * @returns {Study}
 *
 * @typedef {object} Study
 * @property {{ name: string, text: string, fleets: { connections: number, fleet: import('./fleet.js').Fleet }[] }[]} kinds
 * @property {{ name: string, connections: number, rows: object[] }} hangsOn of the first profile
 * @property {object[]} inputs with the `value` that was used
 * @property {object} given
 * @property {object} measurement
 */
export function study(given, names) {
  const { connections = 1e6, ...others } = given;
  const of = (name, size) => ({ ...profiles[name].given, ...others, connections: size });
  const kinds = names.map((name) => ({
    name,
    text: profiles[name].text,
    fleets: SIZES.map((size) => ({
      connections: size,
      fleet: fleetOf(scenario(of(name, size))),
    })),
  }));
  const used = scenario(of(names[0], connections));
  return {
    kinds,
    hangsOn: { name: names[0], connections, rows: sensitivity(of(names[0], connections)) },
    inputs: inputs.map((each) => ({ ...each, value: used[each.name] })),
    ...{ given, measurement },
  };
}
