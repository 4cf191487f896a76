/** Who is compared with whom in a case. */
import { metrics } from '../lib/load.js';
import { backends, install, peers, rooms } from './arms.js';

const kinds = { rooms, install };

/**
 * @typedef {object} Comparison
 * @property {string} title the case, as figures name it
 * @property {string | null} peer null: with bounds
 * @property {Record<string, number | Record<string, number>>} targets by metric, the same by backend
 * @property {string[]} names of the metrics
 * @property {{ backend: string, ours: string, theirs: string | null }[]} pairs of arms
 */

/**
 * @param {import('./cases.js').Case} which
 * @param {boolean} quick only what has a target, and mostly only the portable backend
 * @returns {{ arms: Record<string, object>, comparisons: Comparison[] }} the servers by arm
 */
export function compared(which, quick) {
  const { name, bounds, maxDelay, behind = [] } = which;
  const used = (kind) =>
    quick && !(which.quickRing && kind === 'rooms') ? backends.slice(0, 1) : backends;
  const arms = {};
  const comparisons = [];

  const ourArm = (kind, backend) => {
    const arm = `${kind} ${backend}`;
    arms[arm] = kinds[kind](backend, maxDelay);
    return arm;
  };
  const peerArm = (peer, backend) => {
    const arm = peer === 'no hold' ? `${peer} ${backend}` : peer;
    arms[arm] = peers[peer] ?? rooms(backend);
    return arm;
  };
  for (const kind of Object.keys(kinds)) {
    const named = Object.keys(which[kind]);
    const wanted = quick ? named : new Set([...Object.keys(peers), ...named]);
    for (const peer of wanted) {
      comparisons.push({
        title: kind === 'install' ? `${name} install` : name,
        peer,
        targets: which[kind][peer] ?? {},
        names: Object.keys(metrics).filter(
          (metric) => !metric.endsWith('_ms') || !isBehind(behind, peer),
        ),
        pairs: used(kind).map((backend) => ({
          backend,
          ours: ourArm(kind, backend),
          theirs: peerArm(peer, backend),
        })),
      });
    }
  }
  if (bounds !== undefined) {
    comparisons.push({
      title: name,
      peer: null,
      targets: Object.fromEntries(Object.keys(bounds).map((metric) => [metric, 1])),
      names: Object.keys(bounds),
      pairs: used('rooms').map((backend) => ({
        backend,
        ours: ourArm('rooms', backend),
        theirs: null,
      })),
    });
  }
  return { arms, comparisons };
}

/** Of how late an arm is that is behind nothing can be said. */
export const isBehind = (behind, arm) => behind === 'everybody' || behind.includes(arm);
