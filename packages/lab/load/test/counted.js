import { mock } from 'node:test';
import { serve } from './serve.js';

mock.timers.enable({ apis: ['setTimeout'] });

const WARMUP_REQUESTS = 20;
const WINDOW_REQUESTS = 40;
const SECONDS = 0.5;

/**
 * An HTTP server that also moves the clock of its load: the warm-up ends with the 20th request, the window with the 40th
 * after that, and half a second after its begin at the earliest. So each has requests however slow the machine is. Timers
 * of the process wait for this clock.
 *
 * @param {import('node:test').TestContext} t
 * @param {(request: http.IncomingMessage, response: http.ServerResponse, n: number) => void} answer as of `serve`
 * @returns {Promise<{ url: string, brief: object, begin: () => void }>} `brief` is for the load, which calls `begin` when its
 *   window begins
 */
export async function serveCounted(t, answer) {
  let left = WARMUP_REQUESTS;
  let from = -Infinity;
  const url = await serve(t, (request, response, n) => {
    answer(request, response, n);
    left -= 1;
    if (left > 0 || performance.now() - from < SECONDS * 1000) return;
    left = WARMUP_REQUESTS;
    from = -Infinity;
    mock.timers.tick(SECONDS * 1000);
  });
  const begin = () => {
    left = WINDOW_REQUESTS;
    from = performance.now();
  };
  return { url, brief: { connections: 3, warmup: 0.1, seconds: SECONDS }, begin };
}
