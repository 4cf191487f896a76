/** The file that chat/stocked.js has from the start, as the chat names its files. */
export const FILE_ID = 'lab-file-of-4096-bytes';
