// Looks at each vendor that is added: somebody must be responsible for it.
export default async function (ctx) {
  const vendor = ctx.event ? ctx.event.state : null;
  if (vendor === null) return { status: "pass", summary: "Nothing was added." };
  const isComplete = vendor.assigneeId !== null && vendor.website !== null;
  ctx.log(`${vendor.reference} ${vendor.name}`);
  return {
    status: isComplete ? "pass" : "fail",
    summary: `${vendor.reference} ${vendor.name} ${isComplete ? "has" : "lacks"} a manager and a web site.`,
  };
}
