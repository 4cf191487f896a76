// How the reference model takes a batch; see model.js.

import { CLASSES } from './reader.js';

/**
 * Chooses and orders one batch.
 *
 * @param candidates queued events by arrival, at least one
 * @param now the time, in ms
 * @param counter NORMAL events taken since the last LOW one
 * @param options the options of the queue
 * @returns {{ taken: object[], counter: number }} the batch, and the counter after it
 */
export function takeBatch(candidates, now, counter, options) {
  const deferrals = (event) =>
    [1, 2].filter((n) => now >= event.time + n * options.max_deferral).length;
  const counts = (event) => CLASSES[Math.max(0, CLASSES.indexOf(event.class) - deferrals(event))];
  const ofClass = (name) => {
    const events = candidates.filter((event) => counts(event) === name);
    return options.order === 'type' ? byLane(events) : events;
  };
  const lane = (event) => (options.order === 'type' ? event.type : null);
  const left = { high: ofClass('high'), normal: ofClass('normal'), low: ofClass('low') };
  // A LOW event cannot be chosen before an older one of its lane that counts as NORMAL.
  const isFree = (event) =>
    !left.normal.some((one) => one.class === 'low' && lane(one) === lane(event));
  let lowLane;
  const nextLow = () =>
    left.low.find((event) => isFree(event) && lane(event) === lowLane) ?? left.low.find(isFree);
  const chosen = { high: [], normal: [], low: [] };
  const batch = () => [...chosen.high, ...chosen.normal, ...chosen.low];
  const cuts = candidates.length > options.max_batch;
  while (batch().length < Math.min(options.max_batch, candidates.length)) {
    const lowTurn = left.normal.length === 0 || (cuts && counter === 8 && nextLow() !== undefined);
    const name = left.high.length > 0 ? 'high' : lowTurn ? 'low' : 'normal';
    const event = name === 'low' ? nextLow() : left[name][0];
    if (batch().filter(({ type }) => type === event.type).length >= event.type.max_batch) break;
    if (name === 'low') lowLane = lane(event);
    left[name].splice(left[name].indexOf(event), 1);
    chosen[name].push(event);
    if (name === 'normal') counter = Math.min(8, counter + 1);
    if (name === 'low') counter = 0;
  }
  return { taken: batch(), counter };
}

/** Events of one class lane by lane, the one with the oldest event first. */
function byLane(events) {
  const lanes = new Map();
  for (const event of events) {
    const lane = `${event.class} ${event.type.name}`;
    lanes.set(lane, [...(lanes.get(lane) ?? []), event]);
  }
  return [...lanes.values()].flat();
}
