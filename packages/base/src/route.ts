/** Names of routes, for requests of which nothing is known but their path. */

/** A segment that names one thing among many: digits, a UUID, or a long token with digits in it. */
const id = /^(?:\d+|[0-9a-f]{8}-[0-9a-f-]{27}|(?=[^/]*\d)[\w~.-]{20,}|.{65,})$/i;

/** `/users/17/posts` as `/users/:id/posts`. */
export function foldIds(path: string): string {
  const segments = path.split('/');
  // A path of so many is made up.
  if (segments.length > 16) segments.length = 16;
  for (let i = 0; i < segments.length; i++) {
    if (id.test(segments[i]!)) segments[i] = ':id';
  }
  return segments.join('/');
}
