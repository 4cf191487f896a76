/** HTTP status of each error code. The same codes travel in `error` frames. */
const STATUS = {
  bad_json: 400,
  bad_frame: 400,
  binary_frame: 400,
  unknown_type: 400,
  bad_ref: 400,
  bad_name: 400,
  bad_room: 400,
  bad_text: 400,
  bad_query: 400,
  bad_target: 400,
  bad_action: 400,
  bad_file: 400,
  bad_row: 422,
  text_too_long: 413,
  file_too_large: 413,
  body_too_large: 413,
  unsupported_media_type: 415,
  name_taken: 409,
  bad_session: 401,
  bad_origin: 403,
  muted: 403,
  kicked: 403,
  not_moderator: 403,
  not_in_room: 403,
  unknown_room: 404,
  unknown_message: 404,
  unknown_person: 404,
  unknown_file: 404,
  not_found: 404,
  too_many_rooms: 409,
  flood: 429,
  overloaded: 503,
  storage_unavailable: 503,
  stopping: 503,
  internal: 500,
};

/** An error that its sender is told about: a stable code and one sentence. */
export class ChatError extends Error {
  /**
   * @param {keyof typeof STATUS} code
   * @param {string} message one sentence for a person
   */
  constructor(code, message) {
    super(message);
    this.name = 'ChatError';
    this.code = code;
    this.status = STATUS[code] ?? 500;
  }
}

/** Text of an error for the sender: its own text for a ChatError, nothing of the inside for others. */
export function publicError(error) {
  if (error instanceof ChatError) return error;
  return new ChatError('internal', 'Something went wrong on the server; it has been noted.');
}
