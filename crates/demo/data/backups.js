// Asks the backup service how old the latest copy of the fleet database is.
export default async function (ctx) {
  const token = await ctx.secret("BACKUP_API_TOKEN");
  const response = await ctx.fetch("https://backups.northwind.example/api/latest", {
    headers: { authorization: `Bearer ${token}` },
  });
  const latest = await response.json();
  ctx.log(`${latest.system}: ${latest.ageHours} hours old, ${latest.sizeGiB} GiB`);
  const isRecent = latest.ageHours <= 26;
  const summary = `The latest backup of ${latest.system} is ${latest.ageHours} hours old.`;
  return { status: isRecent ? "pass" : "fail", summary, evidence: { ...latest, checkedAt: ctx.now } };
}
