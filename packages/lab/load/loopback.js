/** Load goes to this machine alone. */

const LOCAL = /^(127(\.\d+){3}|localhost|\[::1\])$/;

/**
 * Returns the reason why nothing may be sent to an address: it is of another machine or another protocol, or has a user and a password.
 *
 * @param {string} url
 * @param {string[]} [protocols] allowed ones
 * @returns {string | null} what it must be, to follow `it`; null when all is well
 */
export function whyNotLocal(url, protocols = ['http:']) {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed && (parsed.username !== '' || parsed.password !== '')) {
    return 'must have no user and no password';
  }
  if (protocols.includes(parsed?.protocol) && LOCAL.test(parsed.hostname)) return null;
  const begin = protocols.map((each) => `${each}//`).join(' or ');
  return `must begin with ${begin} and name this machine (127.0.0.0/8, localhost or [::1]); no other one is ever loaded`;
}

/**
 * Reports whether a path stays on its server: one that begins with two slashes names another.
 *
 * @param {unknown} path
 */
export function isLocalPath(path) {
  const base = 'http://127.0.0.1:1';
  if (typeof path !== 'string' || !path.startsWith('/') || !URL.canParse(path, base)) return false;
  return new URL(path, base).origin === base;
}
