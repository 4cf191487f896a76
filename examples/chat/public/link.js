import { Connection } from './connection.js';
import { memory, state } from './state.js';

/** The page's one connection to its server. */
export const connection = new Connection(() => ({
  name: memory.get('name'),
  session: state.session,
}));
