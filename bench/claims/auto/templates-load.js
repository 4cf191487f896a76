import { bareLoad } from './bare-load.js';

export default bareLoad([1, 2, 3, 4].map((number) => `/pages/${number}`));
