/** The program's side of `process.js`. */
import { createInterface } from 'node:readline';

/** Says something to the test. */
export const say = (message) => console.log(JSON.stringify(message));

/**
 * Answers what the test asks: `{ do: NAME, … }` calls that function of `actions`, and what it returns or resolves to goes back. Ends the
 * listening, so that the process can end by itself, when the test closes its side or asks `{ do: 'hush' }`.
 */
export function answer(actions) {
  const lines = createInterface(process.stdin);
  lines.on('line', async (line) => {
    const message = JSON.parse(line);
    if (message.do === 'hush') {
      lines.close();
      process.stdin.destroy();
      say({ id: message.id, answer: null });
      return;
    }
    say({ id: message.id, answer: (await actions[message.do](message)) ?? null });
  });
}
