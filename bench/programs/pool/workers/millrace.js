import { move } from '@millrace/pool';
import { echo } from './tasks.js';

export * from './tasks.js';

export const give = (bytes) => move(echo(bytes));
