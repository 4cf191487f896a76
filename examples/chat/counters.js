/** Plain counts that a load run and /health read. */
export class Counters {
  /** Frames that came from clients. */
  received = 0;
  /** Messages committed and broadcast. */
  messages = 0;
  /** Requests for a page of history, and the queries made for them. */
  historyRequests = 0;
  historyQueries = 0;
  /** Bytes of files taken in and handed out. */
  uploadedBytes = 0;
  downloadedBytes = 0;
  /** Errors by code: what senders were told, and failures on the server. */
  errors = {};

  count(code) {
    this.errors[code] = (this.errors[code] ?? 0) + 1;
  }
}
