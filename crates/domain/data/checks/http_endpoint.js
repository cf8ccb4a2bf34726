function find(value, pointer) {
  let found = value;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (found === null || typeof found !== "object" || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

export default async function (ctx) {
  const { url, expectedStatus, jsonPointer, expectedValue } = ctx.parameters;
  const response = await ctx.fetch(url);
  const evidence = { check: "http_endpoint", checkedAt: ctx.now, url, finalUrl: response.url, httpStatus: response.status, expectedStatus };
  if (response.status !== expectedStatus) {
    return { status: "fail", summary: `${url} answered ${response.status} instead of ${expectedStatus}.`, evidence };
  }
  if (jsonPointer === null) {
    return { status: "pass", summary: `${url} answered ${response.status}.`, evidence };
  }
  let body;
  try {
    body = await response.json();
  } catch {
    return { status: "fail", summary: `${url} answered ${response.status}, but not with JSON.`, evidence };
  }
  const value = find(body, jsonPointer);
  Object.assign(evidence, { jsonPointer, value: value === undefined ? null : value, expectedValue });
  if (value === undefined) {
    return { status: "fail", summary: `${url} has nothing at ${jsonPointer}.`, evidence };
  }
  if (expectedValue !== null && value !== expectedValue) {
    const summary = `${url} has ${JSON.stringify(value)} at ${jsonPointer} instead of ${JSON.stringify(expectedValue)}.`;
    return { status: "fail", summary, evidence };
  }
  return { status: "pass", summary: `${url} has ${JSON.stringify(value)} at ${jsonPointer}.`, evidence };
}
