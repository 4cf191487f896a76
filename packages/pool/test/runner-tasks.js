/** Functions for a runner in the thread of its test. */

/** Tasks that have begun since a timer of the test had its turn, and the most of them. */
export const state = { begun: 0, ticks: 0, most: 0 };

export function spin(ms) {
  state.most = Math.max(state.most, ++state.begun);
  const end = performance.now() + ms;
  while (performance.now() < end);
  return 0;
}

export const spinAsync = async (ms) => spin(ms);

/** Contexts of tasks that may have ended. */
export const kept = [];

export function keep(asks, context) {
  if (asks) context.signal;
  kept.push(context);
}

export let release;

export const wait = () =>
  new Promise((resolve) => {
    release = resolve;
  });

export function waitAsked(_, context) {
  context.signal;
  kept.push(context);
  return wait();
}
