/** Format of figures. */
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export const count = (value) => whole.format(value);

export function ms(value) {
  if (value === null || value === undefined) return '–';
  if (value < 10) return `${value.toFixed(1)} ms`;
  if (value < 1000) return `${Math.round(value)} ms`;
  return `${(value / 1000).toFixed(value < 10_000 ? 2 : 1)} s`;
}

export function bytes(value) {
  if (value < 1e3) return `${value} bytes`;
  if (value < 1e6) return `${Math.round(value / 1e3)} kB`;
  return value < 1e9 ? `${Math.round(value / 1e6)} MB` : `${(value / 1e9).toFixed(2)} GB`;
}

export const times = (value) => `${value.toFixed(2)}×`;
