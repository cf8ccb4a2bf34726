export default async function (ctx) {
  const { repository, branch, baseUrl, tokenSecret, minReviews } = ctx.parameters;
  const headers = { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" };
  if (tokenSecret !== null) headers.authorization = `Bearer ${await ctx.secret(tokenSecret)}`;
  const base = baseUrl.replace(/\/+$/, "");
  const url = `${base}/repos/${repository}/branches/${encodeURIComponent(branch)}/protection`;
  const response = await ctx.fetch(url, { headers });
  const where = `${repository} (${branch})`;
  const evidence = { check: "branch_protection", checkedAt: ctx.now, repository, branch, url, httpStatus: response.status, minReviews };
  if (response.status === 404) {
    const message = (await response.json().catch(() => ({}))).message ?? "not found";
    return { status: "fail", summary: `The branch of ${where} is not protected, or the token cannot see it: ${message}.`, evidence };
  }
  if (response.status !== 200) {
    throw new Error(`${base} answered ${response.status}; check the token and its permissions.`);
  }
  const protection = await response.json();
  const reviews = protection.required_pull_request_reviews?.required_approving_review_count ?? 0;
  const problems = [];
  if (reviews < minReviews) problems.push(`${reviews} approving reviews are required instead of ${minReviews}`);
  if (protection.allow_force_pushes?.enabled === true) problems.push("force pushes are allowed");
  if (protection.allow_deletions?.enabled === true) problems.push("the branch can be deleted");
  Object.assign(evidence, { protection, problems });
  if (problems.length > 0) {
    return { status: "fail", summary: `${where}: ${problems.join("; ")}.`, evidence };
  }
  return { status: "pass", summary: `The branch of ${where} is protected: ${reviews} approving reviews are required.`, evidence };
}
