const CHECKS = {
  async spf(ctx, domain, records) {
    const answer = await ctx.dns(domain, "TXT");
    const found = answer.records.filter((text) => /^v=spf1(\s|$)/i.test(text));
    records.spf = found;
    if (found.length === 0) return "there is no SPF record";
    if (found.length > 1) return "there is more than one SPF record";
    if (/[+]all\b/i.test(found[0]) || /\sall(\s|$)/i.test(found[0])) return "the SPF record allows every sender";
    return /[~-]all\b/i.test(found[0]) || /\sredirect=/i.test(found[0]) ? null : "the SPF record does not end with ~all or -all";
  },
  async dmarc(ctx, domain, records) {
    const answer = await ctx.dns(`_dmarc.${domain}`, "TXT");
    const found = answer.records.filter((text) => /^v=DMARC1\s*(;|$)/i.test(text));
    records.dmarc = found;
    if (found.length === 0) return "there is no DMARC record";
    if (found.length > 1) return "there is more than one DMARC record";
    const policy = /;\s*p\s*=\s*(\w+)/i.exec(found[0]);
    return policy && /^(quarantine|reject)$/i.test(policy[1]) ? null : "the DMARC policy is neither quarantine nor reject";
  },
  async caa(ctx, domain, records) {
    const answer = await ctx.dns(domain, "CAA");
    records.caa = answer.records;
    return answer.records.some((one) => /^issue$/i.test(one.tag)) ? null : "no CAA record says who may issue certificates";
  },
  async mx(ctx, domain, records) {
    const answer = await ctx.dns(domain, "MX");
    records.mx = answer.records;
    return answer.records.length > 0 ? null : "there is no MX record";
  },
};

export default async function (ctx) {
  const { domain, records: wanted } = ctx.parameters;
  const records = {};
  const problems = [];
  for (const name of wanted) {
    const wrong = await CHECKS[name](ctx, domain, records);
    if (wrong) problems.push(wrong);
  }
  const evidence = { check: "dns_records", checkedAt: ctx.now, domain, records, problems };
  if (problems.length > 0) {
    return { status: "fail", summary: `${domain}: ${problems.join("; ")}.`, evidence };
  }
  return { status: "pass", summary: `${domain} has good records for ${wanted.join(", ")}.`, evidence };
}
