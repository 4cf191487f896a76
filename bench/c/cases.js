/** Many messages at once, and the case of one: no short table shows one without the other. */
export const beside = { 'fanout 500 x8': 'fanout 500' };
