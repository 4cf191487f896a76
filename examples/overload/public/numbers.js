/** Null, where there is nothing to tell, is a dash. */
const unless = (write) => (value) => (value === null || value === undefined ? '–' : write(value));

export const perSecond = unless((value) => `${value.toFixed(value < 10 ? 1 : 0)}/s`);
export const percent = unless((value) => `${Math.round(value * 100)} %`);
export const ms = unless((value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`);
export const times = unless((value) => `${value.toFixed(2).replace(/0$/, '')}×`);
