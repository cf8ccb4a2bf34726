export const controls = {};
