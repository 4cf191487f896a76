/** The single answers that the kind of load `requests` keeps. */

/** Whether an answer counts: a 2xx and, where the load can tell, right. */
export const isGood = ({ status, error }) => error === null && status >= 200 && status <= 299;

/** Whether it is one of those that may fail, and has. */
export const hasFailed = (answer) => answer.request.mayFail === true && !isGood(answer);

/**
 * What is wrong with them, a sentence each: every request, except those that may fail, must have been answered
 * with a 2xx and, where the load can tell, rightly.
 *
 * @param {import('./loads/requests.js').Answer[]} answers
 * @returns {string[]}
 */
export function faultsOf(answers) {
  return byName(answers).flatMap(([name, all]) => {
    const failed = all.filter((answer) => !isGood(answer));
    if (failed.length === 0 || all[0].request.mayFail) return [];
    const [{ status, error }] = failed;
    const why = [status === null ? [] : `status ${status}`, error ?? []].flat().join(', ');
    return [`${failed.length} of ${all.length} answers to '${name}' do not count: ${why}`];
  });
}

/**
 * Their groups, one for each name of a request, by which arms are compared.
 *
 * @param {import('./loads/requests.js').Answer[]} answers
 * @returns {import('./equal.js').Group[]}
 */
export function groupsOf(answers) {
  return byName(answers).map(([name, all]) => {
    const { bytesTolerance, mayFail } = all[0].request;
    const varies = doVary(all);
    return {
      name,
      answers: all.length,
      status: counts(all.map(({ status }) => `${status ?? 'none'}`)),
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) / all.length,
      payload: varies ? null : list(all.map(({ hash }) => `${hash}`.slice(0, 12))),
      varies,
      dueTimes: list(all.map(({ dueMs }) => `${dueMs} ms`)),
      ...(bytesTolerance !== undefined && { bytesTolerance }),
      ...(mayFail !== undefined && { mayFail }),
    };
  });
}

/** Whether the same question had different answers; what of them must be the same an experiment may say itself. */
function doVary(answers) {
  const bodies = new Map();
  for (const { request, status, hash } of answers) {
    if (request.payload || hash === null) continue;
    const { method, path, body } = request;
    const asked = JSON.stringify([method, path, body, status]);
    if ((bodies.get(asked) ?? hash) !== hash) return true;
    bodies.set(asked, hash);
  }
  return false;
}

/** Names in the order of the alphabet. */
function byName(answers) {
  const groups = new Map();
  for (const answer of answers) {
    const { name } = answer.request;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(answer);
  }
  return [...groups].sort(([x], [y]) => (x < y ? -1 : 1));
}

function counts(values) {
  const found = {};
  for (const value of [...values].sort()) found[value] = (found[value] ?? 0) + 1;
  return found;
}

/** Each once, with how often it is there, as `1a2b (40), 3c4d (2)`. */
function list(values) {
  const all = Object.entries(counts(values));
  const shown = all.slice(0, 5).map(([value, count]) => `${value} (${count})`);
  return shown.join(', ') + (all.length > 5 ? ` and ${all.length - 5} others` : '');
}
