/**
 * Inserts, by how many callers there are at a time; each inserts again when all have their answers. Of many `beside` names the
 * case of one, in which nothing can be gathered: no short table shows one without the other.
 */
export const inserts = {
  insert: { atOnce: 100, target: 10, beside: 'insert single' },
  'insert single': { atOnce: 1 },
};
