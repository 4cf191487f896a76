/** Formats numbers and times for the page. */

const steps = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];
const binary = [
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
  [2 ** 10, 'KiB'],
];

/** Formats with three significant digits. */
function digits(value) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(size < 0.01 ? 1 : size < 1 ? 2 : 3)));
}

/** @type {Record<string, (value: number) => string>} */
const written = {
  share: (value) => `${digits(value * 100)} %`,
  bytes(value) {
    const [size, name] = binary.find(([least]) => Math.abs(value) >= least) ?? [1, 'B'];
    return `${digits(value / size)} ${name}`;
  },
  bytesPerSecond: (value) => `${written.bytes(value)}/s`,
  ms: (value) => (Math.abs(value) >= 10_000 ? `${digits(value / 1000)} s` : `${digits(value)} ms`),
  count(value) {
    const [size, name] = steps.find(([least]) => Math.abs(value) >= least) ?? [1, ''];
    return digits(value / size) + name;
  },
  perSecond: (value) => `${written.count(value)}/s`,
};

/**
 * @param {number | null | undefined} value
 * @param {string} unit one of those above
 */
export const format = (value, unit) => (value == null ? '–' : written[unit](value));

/** Formats a count with its noun: `1 chart`, `2 charts`. */
export const count = (number, name) => `${number} ${name}${number === 1 ? '' : 's'}`;

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
/** @param {number} seconds since 1970 */
export const time = (seconds) => clock.format(seconds * 1000);
