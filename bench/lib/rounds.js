/** Paired rounds: in each, every arm is measured once, close together and in random order. */
import { shuffled } from './random.js';

/**
 * @template Sample
 * @param {object} plan
 * @param {string} plan.title shown while it runs
 * @param {Record<string, () => Promise<Sample>>} plan.arms name and what measures it once
 * @param {number} plan.rounds that count
 * @param {number} [plan.warmup] rounds before them, whose samples are dropped
 * @param {() => number} plan.random gives the order of the arms
 * @param {(line: string) => void} plan.say told of progress
 * @returns {Promise<Record<string, Sample>[]>} the rounds that count, each with a sample for each arm
 */
export async function pairedRounds({ title, arms, rounds, warmup = 1, random, say }) {
  const all = [];
  for (let round = 0; round < warmup + rounds; round++) {
    const samples = {};
    for (const name of shuffled(Object.keys(arms), random)) {
      samples[name] = await arms[name]();
    }
    all.push(samples);
    say(`${title}: round ${round + 1} of ${warmup + rounds}${round < warmup ? ' (warm-up)' : ''}`);
  }
  return all.slice(warmup);
}
