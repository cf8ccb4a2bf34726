export const frameworks = {};
