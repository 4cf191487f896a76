import { move } from 'piscina';
import { echo } from './tasks.js';

export * from './tasks.js';

export const give = (bytes) => move(echo(bytes));
