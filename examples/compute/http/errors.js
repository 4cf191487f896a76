/** HTTP status of each error code. */
const STATUS = {
  bad_parameter: 400,
  aborted: 400,
  bad_origin: 403,
  not_found: 404,
  unknown_file: 404,
  method_not_allowed: 405,
  too_large: 413,
  unsupported_media_type: 415,
  internal: 500,
  photo_service: 502,
  overloaded: 503,
  stopping: 503,
  too_slow: 504,
};

/** An error that its sender is told about: a stable code and one sentence. */
export class HttpError extends Error {
  /**
   * @param {keyof typeof STATUS} code
   * @param {string} message one sentence for a person
   * @param {{ retryAfter?: number }} [options] seconds
   */
  constructor(code, message, { retryAfter } = {}) {
    super(message);
    this.name = 'HttpError';
    this.code = code;
    this.status = STATUS[code];
    this.retryAfter = retryAfter;
  }
}

/** Text of an error for the sender: nothing of the inside. */
function toHttpError(error) {
  if (error instanceof HttpError) return error;
  switch (error?.code) {
    case 'MILLRACE_E_TIMEOUT':
      return new HttpError('too_slow', 'It took too long and was given up.');
    case 'MILLRACE_E_OVERLOADED':
      return new HttpError('overloaded', 'Too many tasks wait already.', { retryAfter: 1 });
    // A client that is there still has not aborted anything: the service has.
    case 'MILLRACE_E_ABORTED':
    case 'ABORT_ERR':
    case 'MILLRACE_E_CLOSED':
      return new HttpError('stopping', 'The service is stopping.', { retryAfter: 1 });
    case 'ECONNRESET':
      return new HttpError('aborted', 'The upload ended before it was complete.');
  }
  return new HttpError('internal', 'Something went wrong on the server; it has been noted.');
}

/** Express's last middleware: any error as JSON. */
export const answerErrors = (log) => (error, request, response, next) => {
  // The client has gone, and with it the reason to answer.
  if (response.destroyed) return;
  const told = toHttpError(error);
  if (told.code === 'internal') log(`${request.method} ${request.path}: ${error.stack}`);
  if (response.headersSent) return response.destroy();
  // The rest of a body that was refused is not worth reading.
  if (!request.complete || told.code === 'stopping') response.set('connection', 'close');
  if (told.retryAfter !== undefined) response.set('retry-after', String(told.retryAfter));
  response.status(told.status).json({ error: { code: told.code, message: told.message } });
};
