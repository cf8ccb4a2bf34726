export default async function (ctx) {
  const { host, port, minDaysLeft } = ctx.parameters;
  const answer = await ctx.tls(host, port);
  const { certificate } = answer;
  const daysLeft = Math.floor((Date.parse(certificate.notAfter) - Date.parse(ctx.now)) / 86_400_000);
  const where = port === 443 ? host : `${host}:${port}`;
  const evidence = { check: "tls_certificate", checkedAt: ctx.now, minDaysLeft, daysLeft, ...answer };
  if (!answer.trusted) {
    return { status: "fail", summary: `The certificate of ${where} is not trusted: ${answer.problem}`, evidence };
  }
  if (daysLeft < minDaysLeft) {
    const summary = `The certificate of ${where} expires in ${daysLeft} days, on ${certificate.notAfter.slice(0, 10)}; at least ${minDaysLeft} days are required.`;
    return { status: "fail", summary, evidence };
  }
  const summary = `The certificate of ${where} is trusted and valid for another ${daysLeft} days, until ${certificate.notAfter.slice(0, 10)}.`;
  return { status: "pass", summary, evidence };
}
