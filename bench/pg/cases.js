/** The cases: callers that await one query after the other, clients of the pool, whether statements have a name, or `pipelined` prepares them. */
export const cases = {
  '100 over 2': { callers: 100, clients: 2, named: false },
  '100 over 2 named': { callers: 100, clients: 2, named: true },
  '100 over 2 prepare': { callers: 100, clients: 2, named: false, prepare: true },
  '100 over 10': { callers: 100, clients: 10, named: false },
  '2 over 2': { callers: 2, clients: 2, named: false },
};
