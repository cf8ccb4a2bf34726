import type { InboxItem } from '../api/inbox';
import { day } from '../parts/format';
import { pageOf } from '../parts/places';
import { t } from '../texts';

/** The server's sentences, and how they read in the language of the console. The first that matches is used. */
const SENTENCES: [RegExp, (...parts: string[]) => string][] = [
  [/^(\d+) things were assigned to you$/, (count) => t.inbox.says.assigned(Number(count))],
  [/^(\d+) things of yours are overdue$/, (count) => t.inbox.says.overdue(Number(count))],
  [/^(\d+) things of yours are due soon$/, (count) => t.inbox.says.dueSoon(Number(count))],
  [/^(\d+) messages from your automations$/, (count) => t.inbox.says.automations(Number(count))],
  [/^(\d+) policies or statements need you, or have changed$/, (count) => t.inbox.says.policies(Number(count))],
  [/^(\d+) messages from the trust portal$/, (count) => t.inbox.says.portal(Number(count))],
  [/^(\d+) comments mention you$/, (count) => t.inbox.says.comments(Number(count))],
  [/^(.+?) mentioned you on (.+)$/, (who = '', where = '') => t.inbox.says.mentioned(who, where)],
  [/^(.+) \(its acceptance ends on (\d{4}-\d\d-\d\d)\)$/, (what = '', date = '') => t.inbox.says.acceptanceEnds(what, day(date))],
  [
    /^(.+) \(its acceptance ended on (\d{4}-\d\d-\d\d)\)$/,
    (what = '', date = '') => t.inbox.says.acceptanceEnded(what, day(date)),
  ],
  [/^(.+) \(due (\d{4}-\d\d-\d\d)\)$/, (what = '', date = '') => t.inbox.says.due(what, day(date))],
  [/^(.+), due (\d{4}-\d\d-\d\d)$/, (what = '', date = '') => t.inbox.says.due(what, day(date))],
  [/^Please approve (.+)$/, (what = '') => t.inbox.says.approve(statement(what))],
  [/^Please read and sign (.+)$/, (what = '') => t.inbox.says.sign(what)],
  [/^(.+) is due for review$/, (what = '') => t.inbox.says.review(what)],
  [/^(.+) is published as version (\d+)$/, (what = '', version = '') => t.inbox.says.published(what, version)],
  [/^Approved: (.+)$/, (what = '') => t.inbox.says.approved(statement(what))],
  [/^Not approved: (.+)$/s, (what = '') => t.inbox.says.notApproved(statement(what))],
  [/^(.+?) was not approved: (.+)$/s, (what = '', why = '') => t.inbox.says.notApproved(`${what}: ${why}`)],
  [/^“(.+?)” \((.+?)\) failed: (.*)$/s, (name = '', task = '', why = '') => t.inbox.says.fails(name, task, why)],
  [/^“(.+)” \((.+)\) passes again$/, (automation = '', task = '') => t.inbox.says.passes(automation, task)],
  [/^(.+) asks for access to the trust portal$/, (who = '') => t.inbox.says.requested(who)],
  [/^The trust portal's domain (\S+) works again$/, (domain = '') => t.inbox.says.domainWorks(domain)],
  [/^The DNS records of (\S+) are wrong\. /, (domain = '') => t.inbox.says.domainWrong(domain)],
  [/^The trust portal no longer uses (\S+): /, (domain = '') => t.inbox.says.domainLost(domain)],
];

/** What was submitted or decided; a statement of applicability has no title of its own. */
function statement(what: string): string {
  const named = (_: string, framework: string, version: string) => t.inbox.says.statement(framework, version);
  return what.replace(/^the statement of applicability for (.+?), version (\d+)(?=$|: )/, named);
}

/** A title may read like a sentence of the server: what was assigned or is due is the title itself. */
const TITLED: InboxItem['kind'][] = ['assigned'];

function sentence(text: string): string {
  for (const [pattern, say] of SENTENCES) {
    const found = pattern.exec(text);
    if (found) return say(...found.slice(1));
  }
  return text;
}

/** A notification in the language of the console; a sentence it does not know stays as it is. */
export function told({ kind, text, entityId }: InboxItem): string {
  if (entityId !== null) return TITLED.includes(kind) ? text : sentence(text);
  const [, first, more] = /^(.+), and (\d+) more$/.exec(text) ?? [];
  return first ? t.inbox.says.more(sentence(first), Number(more)) : sentence(text);
}

/** The record of a notification, or the list of what several are about. */
export function addressOf({ kind, entityType, entityId }: InboxItem, memberId: string | undefined): string {
  const lists: Record<InboxItem['kind'], string> = {
    assigned: `/tasks?view=list&assigneeId=${memberId ?? ''}`,
    dueSoon: `/tasks?view=list&assigneeId=${memberId ?? ''}`,
    overdue: `/tasks?view=list&overdue=true&assigneeId=${memberId ?? ''}`,
    automations: '/tasks',
    policies: '/policies',
    portal: '/trust-portal?tab=requests',
    mentioned: '/',
  };
  return (entityType && entityId && pageOf(entityType, entityId)) || lists[kind];
}
