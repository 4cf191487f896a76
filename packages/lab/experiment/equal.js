/**
 * Whether two runs were the same work: what a comparison stands on.
 *
 * @typedef {object} Group answers of one kind, such as those to one path
 * @property {string} name
 * @property {number} answers
 * @property {Record<string, number>} status how many answers of each
 * @property {number} bytes mean of an answer
 * @property {string | null} payload fingerprint of what was answered; null where it cannot be compared
 * @property {boolean} [varies] whether it differs within the run, so that it cannot
 * @property {boolean} [mayFail] whether only their number and times are compared
 * @property {string} [dueTimes] when they were due, or a fingerprint of it; open loop only
 * @property {number} [bytesTolerance] share by which their sizes may differ, default 0.02
 */
import { nameOf } from './arms.js';

/** By so much the sizes of answers may differ: numbers in them have more or fewer digits. */
const BYTES_TOLERANCE = 0.02;

/** Points of per cent by which shares may differ where the number of answers depends on the server. */
const MIX_POINTS = 2;
const STATUS_POINTS = 0.5;

/**
 * In what the work of two runs differs, with a sentence each that has the figures of both. Open loop: number, due times
 * and status codes must be the same; so must the numbers of a program, unless it says `isClosed`. Closed loop, where a
 * faster server answers more: the share of each group within 2 points of per cent, that of each status within 0.5. Both: mean size within 2 %, and the same payload where it has
 * a fingerprint. Of requests that may fail, only how many there were and when.
 *
 * @param {import('./measure.js').Run} a
 * @param {import('./measure.js').Run} b
 * @returns {{ what: string, text: string }[]} `what` is `requests`, `answers`, `payload` and so on
 */
export function differences(a, b) {
  const names = [nameOf(a.role, a.arm), nameOf(b.role, b.arm)];
  const say = (what, [inA, inB], of = '') => ({
    what,
    text: `${what}${of}: ${inA} in ${names[0]}, ${inB} in ${names[1]}`,
  });
  const requests = [a, b].map(({ work }) => work.map(({ name }) => name).sort());
  if (requests[0].join('\0') !== requests[1].join('\0')) {
    return [
      say(
        'requests',
        requests.map((each) => each.join(', ') || 'none'),
      ),
    ];
  }
  const isClosed = a.isClosed || b.isClosed;
  const totals = [a, b].map(({ work }) => work.reduce((sum, { answers }) => sum + answers, 0));
  if (isClosed && totals.includes(0)) return [say('answers', totals)];
  return a.work.flatMap((group) => {
    const both = [group, b.work.find(({ name }) => name === group.name)];
    const found = isClosed
      ? shareDifference(
          'share of answers',
          both.map(({ answers }, i) => answers / totals[i]),
          MIX_POINTS,
        )
      : exactDifferences(both);
    if (!group.mayFail) found.push(...answerDifferences(both, isClosed));
    return found.map(([what, values]) => say(what, values, ` of '${group.name}'`));
  });
}

/** Each one is what differs, and the figure of both. */
function exactDifferences(both) {
  const compared = {
    number: both.map(({ answers }) => answers),
    'times due': both.map(({ dueTimes = '' }) => dueTimes),
  };
  return Object.entries(compared).filter(([, [inA, inB]]) => inA !== inB);
}

function answerDifferences(both, isClosed) {
  const found = isClosed ? statusShares(both) : statusCodes(both);
  const tolerance = both[0].bytesTolerance ?? BYTES_TOLERANCE;
  const bytes = both.map((group) => group.bytes);
  const isAnswered = both.every(({ answers }) => answers > 0);
  if (isAnswered && Math.abs(bytes[0] - bytes[1]) > tolerance * Math.max(...bytes)) {
    found.push(['bytes per answer', bytes.map(rounded)]);
  }
  const payloads = both.map(({ payload }) => payload);
  const change = both.map(({ varies = false }) => varies);
  if (change[0] !== change[1]) {
    found.push([
      'payload',
      change.map((each) => (each ? 'not always the same' : 'always the same')),
    ]);
  } else if (!payloads.includes(null) && payloads[0] !== payloads[1]) {
    found.push(['payload', payloads]);
  }
  return found;
}

function statusCodes(both) {
  const lists = both.map(({ status }) =>
    Object.entries(status)
      .map(([code, count]) => `${code} (${count})`)
      .sort()
      .join(', '),
  );
  return lists[0] === lists[1] ? [] : [['status codes', lists]];
}

function statusShares(both) {
  if (both.some(({ answers }) => answers === 0)) return [];
  const codes = [...new Set(both.flatMap(({ status }) => Object.keys(status)))].sort();
  return codes.flatMap((code) => {
    const shares = both.map(({ status, answers }) => (status[code] ?? 0) / answers);
    return shareDifference(`share of status ${code}`, shares, STATUS_POINTS);
  });
}

function shareDifference(what, shares, points) {
  // Shares are rounded numbers.
  const isSame = Math.abs(shares[0] - shares[1]) * 100 <= points + 1e-9;
  return isSame ? [] : [[what, shares.map((share) => `${rounded(share * 100)} %`)]];
}

const rounded = (value) =>
  value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 100 ? 2 : 0 });
