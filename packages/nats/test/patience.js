/** Brokers that take their time, as on a machine on which much else runs. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Time of a test, in ms. */
export const longMs = 600_000;

/** The broker, as options that give it this time to answer for the first time, unless they say another. */
export const patient = (broker) => ({
  connectTimeout: longMs,
  ...(typeof broker === 'string' ? { servers: broker } : broker),
});

/** Nobody has answered yet, and nothing is known to be wrong. */
const isLate = ({ name, message, cause }) =>
  name === 'TimeoutError' || cause?.name === 'TimeoutError' || / does not answer$/.test(message);

/** Resolves as `act` does, which is called again as long as an answer is late. Requests to JetStream have 5 s. */
export async function patiently(act) {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isLate(error)) throw error;
      await sleep(20);
    }
  }
}
