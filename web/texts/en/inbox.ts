import { n } from './shared';

export const inbox = {
  title: 'Inbox',
  unread: (count: number) => `${count.toLocaleString('en')} unread`,
  allRead: 'Everything is read',
  markAll: 'Mark all as read',
  markRead: 'Mark as read',
  markUnread: 'Mark as unread',
  markReadOf: (text: string) => `Mark as read: ${text}`,
  markUnreadOf: (text: string) => `Mark as unread: ${text}`,
  columns: { text: 'Notification', kind: 'Kind', actor: 'From', at: 'Received', read: 'Read' },
  isUnread: 'Unread',
  filters: { unread: 'State', kind: 'Kind' },
  kinds: {
    assigned: 'Assigned',
    dueSoon: 'Due soon',
    overdue: 'Overdue',
    automations: 'Automation',
    policies: 'Policies',
    portal: 'Trust portal',
    mentioned: 'Mention',
  },
  /** What the server says in English. */
  says: {
    assigned: (count: number) => `${n(count, 'thing was', 'things were')} assigned to you`,
    overdue: (count: number) => `${n(count, 'thing', 'things')} of yours ${count === 1 ? 'is' : 'are'} overdue`,
    more: (first: string, more: number) => `${first}, and ${more.toLocaleString('en')} more`,
    due: (what: string, date: string) => `${what}, due ${date}`,
    acceptanceEnds: (what: string, date: string) => `${what}: acceptance ends on ${date}`,
    acceptanceEnded: (what: string, date: string) => `${what}: acceptance ended on ${date}`,
    mentioned: (who: string, where: string) => `${who} mentioned you on ${where}`,
    approve: (what: string) => `Please approve ${what}`,
    sign: (what: string) => `Please read and sign ${what}`,
    review: (what: string) => `${what} is due for review`,
    published: (what: string, version: string) => `${what} is published as version ${version}`,
    passes: (automation: string, task: string) => `“${automation}” (${task}) passes again`,
    requested: (who: string) => `${who} asks for access to the trust portal`,
  },
  empty: {
    title: 'No notifications yet',
    lead: 'You are notified here when something is assigned to you, becomes due, waits for your approval, or mentions you.',
  },
};
