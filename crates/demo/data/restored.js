// Looks whether a restore was proven in the last 100 days.
export default async function (ctx) {
  const last = ctx.task.lastEvidenceDate;
  if (last === null) return { status: "fail", summary: "No restore has been proven yet." };
  const days = Math.floor((Date.parse(ctx.now) - Date.parse(last)) / 86_400_000);
  ctx.log(`the latest evidence is of ${last}`);
  return { status: days <= 100 ? "pass" : "fail", summary: `A restore was last proven ${days} days ago.` };
}
