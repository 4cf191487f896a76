import {
  allocatedBytesPer,
  cpuUsPer,
  latency,
  ofCollections,
  peakRssMb,
  switchesPer,
  syscallsPer,
  fragmentation as unusedShare,
  value,
  voluntarySwitchesPer,
} from '@millrace/lab/metrics';
import { coefficientOfVariation } from '@millrace/lab/stats';

/** Figures of a run of the chat; a message counts once for each member that gets it. */

/** Between the middle and the slowest hundredth, ms. */
const spreadMs = (run) => (run.latency === null ? null : run.latency.p99 - run.latency.p50);

const lower = { better: 'lower' };

export const cpuPerMessage = {
  ...{ name: 'cpu_us_per_msg', title: 'CPU per message', unit: 'µs', ...lower },
  of: cpuUsPer(),
};

export const coresInUse = {
  ...{ name: 'cores', title: 'cores in use', unit: '' },
  of: ({ costs }) => costs.cpuS / costs.wallS,
};

/** Of arms that do the same work in the same time: there less is better. */
export const cpuUse = { ...coresInUse, ...lower };

export const messagesPerSecond = {
  ...{ name: 'msgs_per_s', title: 'messages delivered', unit: '1/s', better: 'higher' },
  of: value('msgs_per_s'),
};

/** A point each quarter of a second; fewer say nothing of how even they were. */
const LEAST_POINTS = 5;

export const rateSpread = {
  ...{
    name: 'rate_spread_percent',
    title: 'unevenness of the rate within a run',
    unit: '%',
    ...lower,
  },
  of: ({ series }) => {
    const rates = (series.msgs_per_s ?? []).map(([, rate]) => rate);
    const even = rates.length < LEAST_POINTS ? null : coefficientOfVariation(rates);
    return even === null ? null : even * 100;
  },
};

export const p50 = {
  ...{ name: 'p50_ms', title: 'latency, median', unit: 'ms', ...lower },
  of: latency('p50'),
};

export const p99 = {
  ...{ name: 'p99_ms', title: 'latency, p99', unit: 'ms', ...lower },
  of: latency('p99'),
};

export const spread = {
  ...{ name: 'spread_ms', title: 'latency, from median to p99', unit: 'ms', ...lower },
  of: spreadMs,
};

export const switches = {
  ...{ name: 'switches_per_msg', title: 'context switches per message', unit: '', ...lower },
  of: switchesPer(),
};

export const voluntarySwitches = {
  ...{ name: 'voluntary_per_msg', title: 'of these, to wait', unit: '', ...lower },
  of: voluntarySwitchesPer(),
};

export const systemCalls = {
  ...{ name: 'syscalls_per_msg', title: 'system calls per message', unit: '', ...lower },
  of: syscallsPer(),
};

/** Writes since the start of the server, in which its clients have joined. */
export const writes = {
  ...{ name: 'writes_per_msg', title: 'writes to sockets per message', unit: '', ...lower },
  of: ({ stats }) =>
    stats?.delivered_frames > 0 ? stats.socket_writes / stats.delivered_frames : null,
};

export const peakMemory = {
  ...{ name: 'peak_rss_mb', title: 'peak memory', unit: 'MB', ...lower },
  of: peakRssMb,
};

/** Range of the resident memory in the measured window. */
export const memoryRange = {
  ...{ name: 'rss_range_mb', title: 'memory, peak less least', unit: 'MB', ...lower },
  of: ({ costs }) => {
    const seen = costs.series.rss_bytes.map(([, bytes]) => bytes);
    return seen.length < 2 ? null : (Math.max(...seen) - Math.min(...seen)) / 1e6;
  },
};

export const allocations = {
  ...{ name: 'allocated_bytes_per_msg', title: 'allocated per message', unit: 'B', ...lower },
  of: allocatedBytesPer(),
};

export const fragmentation = {
  ...{ name: 'fragmentation_percent', title: 'heap committed and unused', unit: '%', ...lower },
  of: (run) => {
    const share = unusedShare(run);
    return share === null ? null : share * 100;
  },
};

export const collecting = {
  ...{ name: 'gc_ms_per_s', title: 'garbage collection', unit: 'ms/s', ...lower },
  of: ofCollections(({ probe, costs }) => (probe === null ? null : probe.gcMs / costs.wallS)),
};
