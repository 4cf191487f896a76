/** For releases where what import() finds is said by another thread. */
let pool;

export function initialize(url) {
  pool = url;
}

export const resolve = (name, context, next) => next(name === 'piscina' ? pool : name, context);
