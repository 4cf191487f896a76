/** The broker's answer to a message that it was to store. */
import { failure } from '../../broker/failure.js';
import { MillraceError } from '../../errors.js';

/** The stream is full: "maximum messages exceeded", "maximum bytes exceeded", and those per subject. */
const isFull = (text: string) => /maximum (messages|bytes)/.test(text);

/** Its number in the stream, and whether one of its id was there; or why it was refused. */
interface StoredAnswer {
  readonly seq: number;
  readonly duplicate?: boolean;
  readonly error?: { description: string };
}

export function answerOf(payload: Uint8Array): StoredAnswer {
  try {
    return JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString());
  } catch {
    return { seq: 0, error: { description: 'an answer that is not valid JSON' } };
  }
}

/** MILLRACE_E_OVERLOADED if the stream is full, else MILLRACE_E_BROKER. */
export function refused(description: string): MillraceError {
  if (!isFull(description)) return failure(`the broker refuses to store it: ${description}`);
  return new MillraceError(
    'MILLRACE_E_OVERLOADED',
    `the stream is full (${description}); start more workers, send fewer tasks, or raise maxBytes or maxMessages of \`stream\``,
  );
}
