/** What is measured: how many commands are sent at once, before the next ones wait for all of their answers. */
export const cases = { '50 per tick': 50, single: 1 };
