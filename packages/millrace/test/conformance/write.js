// Writes statements as the text of a vector: what a random run found can be kept as a file.
import { formatOutcome } from './runner.js';

/**
 * @param {string} name the sentence of the first line
 * @param {object[]} statements of kind `config` and `operation`, in the reader's shapes
 * @param {object[][]} [outcomes] what each of them caused
 * @returns {string} the text of a vector
 */
export function writeVector(name, statements, outcomes = []) {
  const lines = statements.flatMap((statement, index) => [
    statement.kind === 'config' ? `config ${pairs(statement.options)}` : formatOperation(statement),
    ...(outcomes[index] ?? []).map((outcome) => formatOutcome(rounded(outcome))),
  ]);
  return [`# ${name}`, ...lines, ''].join('\n');
}

/** The line of a vector for an operation. */
export function formatOperation(operation) {
  const { op, time, ms, type, id, priority, bytes, key, discard, options, signals } = operation;
  const words = [op, time, ms];
  if (type) words.push(type);
  words.push(id, priority);
  if (bytes > 0) words.push(`bytes=${bytes}`);
  if (key) words.push(`key=${key}`);
  if (discard) words.push('discard');
  if (options) words.push(pairs(options));
  if (signals) words.push(pairs(signals));
  if (operation.operation) words.push(formatOperation(operation.operation));
  return words.filter((word) => word !== undefined && word !== null).join(' ');
}

/** Times with few enough decimals for the grammar, well within the tolerance. */
function rounded({ time, ms, ...others }) {
  const round = (number) => number && Number(number.toFixed(4));
  return { ...others, time: round(time), ms: round(ms) };
}

function pairs(values) {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}
