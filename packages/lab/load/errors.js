/**
 * An error of the lab. `code` is one of
 * `MILLRACE_LAB_E_BUILD` (the generator could not be built), `MILLRACE_LAB_E_INVALID_OPTION`,
 * `MILLRACE_LAB_E_CONNECT` (the server could not be reached), `MILLRACE_LAB_E_GENERATOR`
 * (the generator ended without a result), `MILLRACE_LAB_E_SERVER` (a server that the lab started
 * did not come up, or went away), `MILLRACE_LAB_E_PORT` (something listens there already),
 * `MILLRACE_LAB_E_EXPERIMENT` (the file of an experiment is mistaken), `MILLRACE_LAB_E_REFUSED` (two arms cannot be
 * compared), `MILLRACE_LAB_E_REPORT` (results cannot be read, or a report not written), `MILLRACE_LAB_E_RESULTS`
 * (results cannot be written) and `MILLRACE_LAB_E_TIMEOUT`
 * (an answer did not come).
 */
export class LabError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'LabError';
    this.code = code;
  }
}
