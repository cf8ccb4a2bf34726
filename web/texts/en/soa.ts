export const soa = {};
