import Tinypool from 'tinypool';
import { echo } from './tasks.js';

export * from './tasks.js';

export const give = (bytes) => Tinypool.move(echo(bytes));
