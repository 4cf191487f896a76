import { bareLoad } from './bare-load.js';
import { postgresReady } from './postgres.js';

const load = bareLoad([1, 2, 3, 4].map((number) => `/users/${number}`));

export default async function afterPostgres(options) {
  await postgresReady();
  return load(options);
}
