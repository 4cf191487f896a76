/** One soak from the beginning to the end, and its outcome. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostRecord } from '../../experiment/host.js';
import { unexpected } from './expected.js';
import { warmUpOf } from './judge.js';
import { outcome } from './outcome.js';
import { Service } from './service.js';
import { faultsInDatabase, runSoak } from './soak.js';

/**
 * @param {object} options
 * @param {number} options.seconds
 * @param {number} options.every seconds from one fault to the next
 * @param {number} options.seed
 * @param {(record: object) => void} options.keep is given all that is measured, as it comes
 * @param {AbortSignal} [options.signal] ends it early, with its reason
 */
export async function soakResult({ seconds, every, seed, keep, signal }) {
  const host = hostRecord();
  const date = new Date().toISOString();
  const from = performance.now();
  const dir = await mkdtemp(join(tmpdir(), 'millrace-soak-'));
  let service;
  try {
    service = await Service.start(dir);
    const found = await runSoak(service, { seconds, every, seed, keep, signal });
    const stop = await service.stop();
    const saved = await faultsInDatabase(service, found.waves);
    const { acknowledged, counts, faults } = service.ledger;
    const ledger = { acknowledged: acknowledged.size, counts, faults };
    const said = unexpected(service.said.map(({ line }) => line));
    const judged = outcome({ seconds, seed, found, ledger, saved, stop, said });
    const { word, criteria, growth } = judged;
    const tookS = (performance.now() - from) / 1000;
    keep({ type: 'result', date, seconds, every, seed, tookS, host, word, criteria, counts });
    return {
      ...{ date, seconds, every, seed, tookS, host, word, criteria, growth, found, counts },
      warmUpS: warmUpOf(seconds),
    };
  } finally {
    await service?.stop();
    await service?.remove();
    await rm(dir, { recursive: true, force: true });
  }
}
