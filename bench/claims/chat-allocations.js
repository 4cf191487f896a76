import { allocatorCallsPer } from '@millrace/lab/metrics';
import { cpuPerMessage } from './chat/metrics.js';
import { ALLOCATIONS, SOURCE } from './chat/paper.js';
import { arms, atEqualLoad, perSecond, SIZE } from './chat/service.js';

const { direct, fixed50, adaptive, adaptive50 } = arms();

export const question = 'How many allocations and deallocations does a message of the chat cost?';

export const about =
  'Calls of the C library’s allocator by the whole server, for each delivered message: malloc and its kin, and free. A library that is ' +
  'loaded before all others counts them, in all arms, at a few nanoseconds a call; so these runs are not those of chat-equal. They are what libuv, Buffers, ' +
  'addons and SQLite allocate. V8 takes pages for its objects from the system and does not count what it makes of them: chat-memory has ' +
  `their bytes. The paper changed libuv, and does not say what it has counted. ${SIZE}`;

export const claim = {
  text: 'Memory allocations and deallocations 23.5 % fewer',
  source: `${SOURCE}, section 7.8`,
  metric: 'allocator_calls_per_msg',
  atLeast: ALLOCATIONS,
};

export const control = direct;

export const treatment = [fixed50, adaptive, adaptive50];

export const load = atEqualLoad;

export const cases = [{ label: perSecond(50_000), rate: 50_000 }];

export const metrics = [
  {
    ...{ name: 'allocator_calls_per_msg', title: 'allocations and frees per message' },
    ...{ unit: '', better: 'lower' },
    of: allocatorCallsPer(),
  },
  cpuPerMessage,
];
