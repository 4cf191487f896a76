export const checks = {
  example: ({ watch }) => watch.stop(),
};
