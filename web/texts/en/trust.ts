export const trust = {};
