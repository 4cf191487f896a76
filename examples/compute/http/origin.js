import { HttpError } from './errors.js';

/** Reports whether it can only mean this machine. */
export const isLoopback = (name) =>
  /^(localhost|(.+\.)?localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(name);

/**
 * Check of the origin. Any page could have a browser ask for work that takes minutes, so those of other sites may do no more than link to this one.
 * And a name that its owner points to this machine would make their page one of ours (DNS rebinding): a service that listens
 * for this machine only answers to its names.
 *
 * @param {string} [host] the address that it listens on
 */
export const ownPagesOnly = (host) => (request, _, next) => {
  const { headers, method, path } = request;
  const isLink =
    headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  if (headers['sec-fetch-site'] === 'cross-site' && !(isLink && method === 'GET' && path === '/')) {
    throw new HttpError('bad_origin', 'Pages of other sites may not ask.');
  }
  if (host !== undefined && isLoopback(host) && !isLoopback(nameOf(headers.host))) {
    throw new HttpError('bad_origin', 'This service is asked for as localhost or 127.0.0.1.');
  }
  next();
};

/** Name in a Host header, without the port; browsers always send one. */
const nameOf = (header = 'localhost') => header.replace(/:\d*$/, '');
