export default () => 'default of ESM';
export const named = () => 'named of ESM';
export const promised = Promise.resolve(() => 'promised of ESM');
export const value = 5;
