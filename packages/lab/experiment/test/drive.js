import { loads } from '../loads/index.js';

/** Drives a load once and writes down its marks. */
export async function drive(kind, load, more = {}) {
  const marks = [];
  const outcome = await loads[kind].drive({
    ...{
      load: { kind, ...load },
      params: { size: 'quick', seed: 1 },
      timeoutS: 600,
      phase: 'measure',
    },
    ...{ cpuUs: () => 0, begin: () => marks.push('begin'), end: () => marks.push('end') },
    ...more,
  });
  return { ...outcome, marks };
}
