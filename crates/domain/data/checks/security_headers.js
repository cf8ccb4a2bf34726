const RULES = {
  "strict-transport-security": (value) => {
    const age = /(?:^|;)\s*max-age="?(\d+)"?/i.exec(value);
    if (!age) return "has no max-age";
    return Number(age[1]) >= 15_552_000 ? null : "has a max-age of less than 180 days";
  },
  "content-security-policy": (value) => (value.trim() ? null : "is empty"),
  "x-content-type-options": (value) => (value.trim().toLowerCase() === "nosniff" ? null : "is not nosniff"),
  "x-frame-options": (value) => (/^(deny|sameorigin)$/i.test(value.trim()) ? null : "is neither DENY nor SAMEORIGIN"),
  "referrer-policy": (value) => (/unsafe-url/i.test(value) || !value.trim() ? "lets the whole address out" : null),
};

export default async function (ctx) {
  const { url, headers: required } = ctx.parameters;
  const response = await ctx.fetch(url, { method: "GET" });
  const headers = {};
  const problems = [];
  for (const name of required) {
    const value = response.headers.get(name);
    headers[name] = value;
    if (value === null) {
      // A policy against framing replaces the older header.
      const policy = response.headers.get("content-security-policy") ?? "";
      if (name === "x-frame-options" && /frame-ancestors/i.test(policy)) continue;
      problems.push(`${name} is missing`);
      continue;
    }
    const wrong = RULES[name](value);
    if (wrong) problems.push(`${name} ${wrong}`);
  }
  const evidence = { check: "security_headers", checkedAt: ctx.now, url, finalUrl: response.url, httpStatus: response.status, headers, problems };
  if (response.status >= 500) {
    return { status: "fail", summary: `${url} answered ${response.status}.`, evidence };
  }
  if (problems.length > 0) {
    return { status: "fail", summary: `${url}: ${problems.join("; ")}.`, evidence };
  }
  return { status: "pass", summary: `${url} sends all ${required.length} security headers.`, evidence };
}
