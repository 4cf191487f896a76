import { allocations, collecting, fragmentation, memoryRange, peakMemory } from './chat/metrics.js';
import { ANY, FRAGMENTATION, PEAK_MEMORY, SOURCE } from './chat/paper.js';

export const question = 'How much memory does the chat need and allocate, and how is it used?';

export const about =
  'Of the same runs as chat-equal. Allocations are the bytes that V8 has allocated in the main thread for each delivered ' +
  'message; they do not count native memory, and V8 does not count the operations; chat-allocations has those of the C library. Fragmentation is the share of the committed heap that holds nothing, which ' +
  'is what a process can see of it. The paper does not say how it has measured either; its memory is in percent of its machine ' +
  '(62 to 77 % without, about 70 % with batching, p = 0.69, which it calls not significant).';

export const sameRunsAs = 'chat-equal';

const source = `${SOURCE}, section 7.8`;

export const claim = [
  {
    text: 'Peak memory 0.77 % lower under high load',
    source,
    metric: 'peak_rss_mb',
    atLeast: PEAK_MEMORY,
  },
  {
    text: 'Fragmentation 15.2 % lower',
    source,
    metric: 'fragmentation_percent',
    atLeast: FRAGMENTATION,
  },
  {
    text: 'Memory use concentrated in place of scattered',
    source: `${source}, without a figure for the spread`,
    metric: 'rss_range_mb',
    atLeast: ANY,
  },
];

export const metrics = [peakMemory, memoryRange, allocations, fragmentation, collecting];
