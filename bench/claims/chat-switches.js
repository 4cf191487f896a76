import { growth } from './chat/growth.js';
import { switches, systemCalls, voluntarySwitches, writes } from './chat/metrics.js';
import { SOURCE, SWITCHES } from './chat/paper.js';

export const question =
  'How many context switches and system calls does a message of the chat cost?';

export const about =
  'Of the same runs as chat-equal, in the measured window, all threads of the server. Switches are as the kernel ' +
  'counts them: voluntary ones when a thread waits, the others when it is made to stop. The server shares its core with ' +
  'nothing of the lab, but with whatever else runs. System calls need perf; where it is not allowed there are none, and ' +
  'writes to sockets, which the server counts itself since its start, stand in for them. The paper says ' +
  '"approximately" and not how it has counted.';

export const sameRunsAs = 'chat-equal';

export const claim = {
  text: 'Context switching overhead about 42.1 % lower',
  source: `${SOURCE}, section 7.5`,
  metric: 'switches_per_msg',
  atLeast: SWITCHES,
};

export const metrics = [switches, voluntarySwitches, systemCalls, writes];

export const notes = (results) => growth(results, 'switches_per_msg', 'Context switches');
